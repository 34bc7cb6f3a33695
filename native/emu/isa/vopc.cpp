#include <array>
#include <string_view>

#include "isa/tables.h"
#include "isa/vector.h"

// The compares: sixteen conditions of three float types, eight of six integer types, each also as
// v_cmpx, and the class tests. Conditions are sets: less 1, equal 2, greater 4, unordered 8; the
// set is the low part of the opcode.
namespace hipgraph::emu::tables {
namespace {

using namespace vector;

constexpr std::array<std::string_view, 16> float_conditions{
    "f", "lt",  "eq",  "le",  "gt",  "lg",  "ge",  "o",
    "u", "nge", "nlg", "ngt", "nle", "neq", "nlt", "tru"};
constexpr std::array<std::string_view, 8> integer_conditions{"f",  "lt", "eq", "le",
                                                             "gt", "ne", "ge", "t"};

template <u32 Condition, typename T>
constexpr bool holds(T a, T b) {
  return ((Condition & 1) != 0 && a < b) || ((Condition & 2) != 0 && a == b) ||
         ((Condition & 4) != 0 && a > b) || ((Condition & 8) != 0 && (a != a || b != b));
}

template <u32 Condition, typename T>
constexpr auto compare = [](T a, T b) { return holds<Condition>(a, b); };
template <u32 Condition>
constexpr auto compare<Condition, Half> =
    [](Half a, Half b) { return holds<Condition>(f32_from_f16(a), f32_from_f16(b)); };

/// Type, its name in mnemonics, the first opcode of its v_cmp and of its v_cmpx rows.
template <typename T>
struct Compared;
template <>
struct Compared<Half> {
  static constexpr std::string_view name = "f16";
};
template <>
struct Compared<float> {
  static constexpr std::string_view name = "f32";
};
template <>
struct Compared<double> {
  static constexpr std::string_view name = "f64";
};
template <>
struct Compared<i16> {
  static constexpr std::string_view name = "i16";
};
template <>
struct Compared<u16> {
  static constexpr std::string_view name = "u16";
};
template <>
struct Compared<i32> {
  static constexpr std::string_view name = "i32";
};
template <>
struct Compared<u32> {
  static constexpr std::string_view name = "u32";
};
template <>
struct Compared<i64> {
  static constexpr std::string_view name = "i64";
};
template <>
struct Compared<u64> {
  static constexpr std::string_view name = "u64";
};

template <typename T>
constexpr bool is_integer = std::is_integral_v<T>;

using Name = std::array<char, 20>;

template <bool WritesExec, u32 Condition, typename T>
constexpr Name mnemonic = [] {
  Name name{};
  std::size_t at = 0;
  const std::string_view condition =
      is_integer<T> ? integer_conditions[Condition % 8] : float_conditions[Condition];
  for (const std::string_view text : {std::string_view(WritesExec ? "v_cmpx_" : "v_cmp_"),
                                      condition, std::string_view("_"), Compared<T>::name}) {
    for (const char c : text) name[at++] = c;
  }
  return name;
}();

template <bool WritesExec, u32 Condition, typename T>
constexpr Row compare_row(u32 first) {
  return row<compare<Condition, T>, WritesExec ? kWritesExec : kPlain>(
      static_cast<u16>(first + Condition), mnemonic<WritesExec, Condition, T>.data());
}

template <typename T, bool WritesExec, std::size_t... Conditions>
constexpr auto rows_of_type(u32 first, std::index_sequence<Conditions...>) {
  return std::array{compare_row<WritesExec, static_cast<u32>(Conditions), T>(first)...};
}

template <typename T, bool WritesExec>
constexpr auto rows_at(u32 first) {
  return rows_of_type<T, WritesExec>(first, std::make_index_sequence<is_integer<T> ? 8 : 16>{});
}

/// Which of the ten classes of float numbers the bits are in, as the mask of v_cmp_class has them.
template <typename Word>
constexpr u32 class_of(Word bits, Word infinity, Word quiet, Word sign) {
  const auto magnitude = static_cast<Word>(bits & ~sign);
  if (magnitude > infinity) return (bits & quiet) != 0 ? 2 : 1;
  const bool negative = (bits & sign) != 0;
  if (magnitude == infinity) return negative ? 1 << 2 : 1 << 9;
  if ((magnitude & infinity) != 0) return negative ? 1 << 3 : 1 << 8;
  if (magnitude != 0) return negative ? 1 << 4 : 1 << 7;
  return negative ? 1 << 5 : 1 << 6;
}

constexpr auto class_f16 = [](Raw<u16> a, u32 mask) {
  using namespace float_bits;
  return (class_of<u16>(a.bits, infinity16, quiet16, sign16) & mask) != 0;
};
constexpr auto class_f32 = [](Raw<u32> a, u32 mask) {
  using namespace float_bits;
  return (class_of<u32>(a.bits, infinity32, quiet32, sign32) & mask) != 0;
};
constexpr auto class_f64 = [](Raw<u64> a, u32 mask) {
  using namespace float_bits;
  return (class_of<u64>(a.bits, infinity64, quiet64, sign64) & mask) != 0;
};

constexpr std::array class_rows{
    row<class_f32>(0x10, "v_cmp_class_f32"), row<class_f32, kWritesExec>(0x11, "v_cmpx_class_f32"),
    row<class_f64>(0x12, "v_cmp_class_f64"), row<class_f64, kWritesExec>(0x13, "v_cmpx_class_f64"),
    row<class_f16>(0x14, "v_cmp_class_f16"), row<class_f16, kWritesExec>(0x15, "v_cmpx_class_f16"),
};

constexpr std::size_t row_count = 6 + 6 * 16 + 12 * 8;

template <typename... Tables>
constexpr std::array<Row, row_count> joined(const Tables&... tables) {
  std::array<Row, row_count> all{};
  std::size_t at = 0;
  const auto append = [&](const auto& table) {
    for (const Row& row : table) all[at++] = row;
  };
  (append(tables), ...);
  return all;
}

constexpr auto vopc_rows = joined(
    class_rows, rows_at<Half, false>(0x20), rows_at<Half, true>(0x30), rows_at<float, false>(0x40),
    rows_at<float, true>(0x50), rows_at<double, false>(0x60), rows_at<double, true>(0x70),
    rows_at<i16, false>(0xa0), rows_at<u16, false>(0xa8), rows_at<i16, true>(0xb0),
    rows_at<u16, true>(0xb8), rows_at<i32, false>(0xc0), rows_at<u32, false>(0xc8),
    rows_at<i32, true>(0xd0), rows_at<u32, true>(0xd8), rows_at<i64, false>(0xe0),
    rows_at<u64, false>(0xe8), rows_at<i64, true>(0xf0), rows_at<u64, true>(0xf8));
static_assert(ascends(vopc_rows));

}  // namespace

std::span<const Row> vopc() { return vopc_rows; }

}  // namespace hipgraph::emu::tables
