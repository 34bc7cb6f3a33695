#pragma once

/// The part of HIP's C ABI that only calls about contexts and a device's settings use.

using hipCtx_t = struct ihipCtx_t*;

constexpr unsigned hipDeviceScheduleAuto = 0, hipDeviceScheduleSpin = 1, hipDeviceScheduleYield = 2,
                   hipDeviceScheduleBlockingSync = 4, hipDeviceScheduleMask = 7,
                   hipDeviceMapHost = 8, hipDeviceLmemResizeToMax = 16;

enum hipLimit_t : int {
  hipLimitStackSize = 0,
  hipLimitPrintfFifoSize = 1,
  hipLimitMallocHeapSize = 2,
  hipExtLimitScratchMin = 0x1000,
  hipExtLimitScratchMax = 0x1001,
  hipExtLimitScratchCurrent = 0x1002,
  hipLimitRange,
};

enum hipFuncCache_t : int {
  hipFuncCachePreferNone = 0,
  hipFuncCachePreferShared = 1,
  hipFuncCachePreferL1 = 2,
  hipFuncCachePreferEqual = 3,
};

enum hipSharedMemConfig : int {
  hipSharedMemBankSizeDefault = 0,
  hipSharedMemBankSizeFourByte = 1,
  hipSharedMemBankSizeEightByte = 2,
};
