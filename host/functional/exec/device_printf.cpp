// Formats the text of a printf() by device code, each conversion by the host's snprintf().
#include "host/functional/exec/device_printf.h"

#include <algorithm>
#include <cstdio>
#include <vector>

namespace nearwarp::runtime {

namespace {

constexpr int kMostDigits = 4096;  // the largest width or precision

/// Reads the arguments in their order.
class Arguments {
 public:
  explicit Arguments(const PrintfSource& source) : source_(source) {}

  template <class T>
  T next() {
    T value{};
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    source_.argument(offset_, &value, sizeof(T));
    offset_ += sizeof(T);
    return value;
  }

 private:
  const PrintfSource& source_;
  uint64_t offset_ = 0;
};

template <class T>
std::string print_value(const std::string& conversion, T value) {
  const int length = std::snprintf(nullptr, 0, conversion.c_str(), value);
  if (length <= 0) return {};
  std::vector<char> text(static_cast<size_t>(length) + 1);
  std::snprintf(text.data(), text.size(), conversion.c_str(), value);
  return {text.data(), static_cast<size_t>(length)};
}

/// Appends the width or precision at `at` to `out`, by its digits or by an argument for '*'.
void number(std::string_view format, size_t* at, Arguments* arguments, std::string* out) {
  if (*at < format.size() && format[*at] == '*') {
    ++*at;
    *out += std::to_string(std::clamp(arguments->next<int>(), -kMostDigits, kMostDigits));
    return;
  }
  std::string digits;
  while (*at < format.size() && format[*at] >= '0' && format[*at] <= '9') digits += format[(*at)++];
  if (!digits.empty()) *out += digits.size() > 4 ? std::to_string(kMostDigits) : digits;
}

/// Formats the conversion that begins with '%' at `at`, and moves `at` behind it. Returns false if
/// it is not supported.
bool conversion(std::string_view format, size_t* at, Arguments* arguments,
                const PrintfSource& source, std::string* out) {
  std::string spec = "%";
  size_t i = *at + 1;
  while (i < format.size() && std::string_view("-+ #0").find(format[i]) != std::string_view::npos)
    spec += format[i++];
  number(format, &i, arguments, &spec);
  if (i < format.size() && format[i] == '.') {
    ++i;
    std::string precision;
    number(format, &i, arguments, &precision);
    if (!precision.starts_with('-')) spec += '.' + precision;  // a negative argument counts as none
  }
  std::string length;
  while (i < format.size() && std::string_view("hljztL").find(format[i]) != std::string_view::npos)
    length += format[i++];
  if (i == format.size()) return false;
  const char kind = format[i++];
  const bool is_long =
      length == "l" || length == "ll" || length == "j" || length == "z" || length == "t";
  const bool is_int = length.empty() || length == "h" || length == "hh";
  if (!is_long && !is_int && std::string_view("diuoxX").find(kind) != std::string_view::npos)
    return false;
  switch (kind) {
    case 'd':
    case 'i':
      if (is_long) {
        *out += print_value(spec + "ll" + kind, arguments->next<long long>());
      } else {
        *out += print_value(spec + length + kind, arguments->next<int>());
      }
      break;
    case 'u':
    case 'o':
    case 'x':
    case 'X':
      if (is_long) {
        *out += print_value(spec + "ll" + kind, arguments->next<unsigned long long>());
      } else {
        *out += print_value(spec + length + kind, arguments->next<unsigned>());
      }
      break;
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
      *out += print_value(spec + kind, arguments->next<double>());
      break;
    case 'c':
      *out += print_value(spec + kind, arguments->next<int>());
      break;
    case 'p':
      *out += print_value(spec + kind, reinterpret_cast<void*>(arguments->next<uint64_t>()));
      break;
    case 's': {
      const uint64_t address = arguments->next<uint64_t>();
      const std::string text = address == 0 ? "(null)" : source.string(address);
      *out += print_value(spec + kind, text.c_str());
      break;
    }
    case '%':
      *out += '%';
      break;
    default:
      return false;
  }
  *at = i;
  return true;
}

}  // namespace

std::string format_printf(std::string_view format, const PrintfSource& source) {
  std::string out;
  Arguments arguments(source);
  for (size_t at = 0; at < format.size();) {
    if (format[at] == '%' && conversion(format, &at, &arguments, source, &out)) continue;
    out += format[at++];
  }
  return out;
}

}  // namespace nearwarp::runtime
