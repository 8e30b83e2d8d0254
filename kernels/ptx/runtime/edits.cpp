// See edits.hpp.
#include "ptx/runtime/edits.hpp"

namespace ge::ptx {

void Edits::add(const char* pattern, const char* replacement, int64_t nth) {
  using std::regex;
  edits_.push_back({regex(pattern, regex::ECMAScript | regex::multiline | regex::optimize),
                    replacement, nth, 0});
}
void Edits::set_hook(Hook hook, void* context) {
  hook_ = hook, context_ = context;
}
void Edits::clear() {
  *this = Edits{};
}

std::string Edits::apply(Edit& edit, const std::string& text) {
  std::string made;
  auto end_of_last = text.cbegin();
  for (std::sregex_iterator at(text.cbegin(), text.cend(), edit.pattern), end; at != end; ++at) {
    if (edit.nth >= 0 && edit.seen++ != edit.nth) continue;
    made.append(end_of_last, text.cbegin() + at->position());
    made += at->format(edit.replacement);
    end_of_last = text.cbegin() + at->position() + at->length();
    ++changed_;
  }
  return made.append(end_of_last, text.cend());
}
std::string Edits::apply(std::string_view given) {
  std::string text(given);
  for (Edit& edit : edits_) text = apply(edit, text);
  if (hook_ == nullptr) return text;
  const char* const made = hook_(text.c_str(), context_);
  if (made == nullptr) return text;
  ++changed_;
  return made;
}

}  // namespace ge::ptx
