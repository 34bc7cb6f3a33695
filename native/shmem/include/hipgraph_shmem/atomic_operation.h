// The numbers of the atomic operations that the local provider's kernels take as an argument.
#pragma once

typedef enum hgs_atomic_operation {
  HGS_ATOMIC_FETCH = 0,
  HGS_ATOMIC_SET = 1,
  HGS_ATOMIC_ADD = 2,
  HGS_ATOMIC_AND = 3,
  HGS_ATOMIC_OR = 4,
  HGS_ATOMIC_XOR = 5,
  HGS_ATOMIC_SWAP = 6,
  HGS_ATOMIC_COMPARE_SWAP = 7,
} hgs_atomic_operation;
