#include "ptx/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <system_error>
#include <utility>

namespace ge::ptx {

bool Statement::has(const char* modifier) const {
  return std::find(modifiers.begin(), modifiers.end(), modifier) != modifiers.end();
}
std::string Statement::whole() const {
  std::string all = opcode;
  for (const std::string& modifier : modifiers) all += "." + modifier;
  return all;
}

const std::string& Function::type_of(const std::string& wanted) const {
  static const std::string none;
  if (const auto one = registers.find(wanted); one != registers.end()) return one->second;
  size_t end = wanted.size();
  while (end > 0 && std::isdigit(static_cast<unsigned char>(wanted[end - 1])) != 0) --end;
  const auto many = numbered.find(wanted.substr(0, end));
  if (many == numbered.end() || end == wanted.size()) return none;
  int number = 0;  // %r<9> declares %r0 to %r8
  const auto read = std::from_chars(wanted.data() + end, wanted.data() + wanted.size(), number);
  return read.ec == std::errc() && number < many->second.second ? many->second.first : none;
}

const Function* Module::find(const std::string& name) const {
  for (const auto& function : functions)
    if (function->name == name && function->has_body) return function.get();
  return nullptr;
}

namespace {

/// Cuts the text into words: names with dots and colons inside, numbers, strings, single signs.
class Words {
 public:
  explicit Words(const std::string& text) : text_(text) { next(); }

  const std::string& word() const { return word_; }
  int line() const { return line_; }
  bool done() const { return word_.empty(); }

  std::string take() {
    std::string was = std::move(word_);
    next();
    return was;
  }
  /// Takes the word if it is this one.
  bool take_if(const char* wanted) {
    if (word_ != wanted) return false;
    next();
    return true;
  }
  void expect(const char* wanted) {
    if (!take_if(wanted)) fail(std::string("expected `") + wanted + "`");
  }
  void skip_line() {
    for (const int line = line_; !done() && line_ == line;) next();
  }
  [[noreturn]] void fail(const std::string& why) const {
    throw Unreadable("PTX line " + std::to_string(line_) + ": " + why + " at `" + word_ + "`");
  }

  /// An integer, or the bits of a float as 0f3F800000 or 0d3FF0000000000000 (4.5).
  uint64_t number() {
    const bool is_negative = take_if("-");
    const bool is_real = word_.size() > 2 && word_[0] == '0' &&
                         std::string("fFdD").find(word_[1]) != std::string::npos;
    size_t used = 0;
    uint64_t value = 0;
    try {
      value = is_real ? std::stoull(word_.substr(2), &used, 16) : std::stoull(word_, &used, 0);
    } catch (const std::logic_error&) {
      fail("expected a number");
    }
    // Integers may end in U.
    const size_t whole = word_.size() - (is_real ? 2 : 0);
    if (used != whole && !(used + 1 == whole && word_.back() == 'U')) fail("expected a number");
    if (is_negative && is_real) fail("a sign before the bits of a float");
    next();
    return is_negative ? uint64_t(0) - value : value;
  }

 private:
  static bool is_of_name(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string("_$.%:").find(c) != std::string::npos;
  }
  void skip_space() {
    for (;;) {
      while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0)
        next_line_ += text_[at_++] == '\n' ? 1 : 0;
      if (text_.compare(at_, 2, "//") == 0) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.compare(at_, 2, "/*") == 0) {
        const size_t end = std::min(text_.find("*/", at_), text_.size());
        next_line_ += int(std::count(text_.begin() + long(at_), text_.begin() + long(end), '\n'));
        at_ = std::min(end + 2, text_.size());
      } else {
        return;
      }
    }
  }
  void next() {
    skip_space();
    line_ = next_line_;
    size_t end = at_;
    if (at_ >= text_.size()) {
      word_.clear();
      return;
    }
    if (text_[at_] == '"') {
      end = std::min(text_.find('"', at_ + 1), text_.size() - 1) + 1;
    } else if (is_of_name(text_[at_]) && text_[at_] != ':') {
      // One colon ends a label, two belong to a modifier such as shared::cta.
      while (end < text_.size() && is_of_name(text_[end])) {
        const bool is_colon = text_[end] == ':';
        if (is_colon && (end + 1 == text_.size() || text_[end + 1] != ':')) break;
        end += is_colon ? 2 : 1;
      }
    } else {
      end = at_ + 1;
    }
    word_ = text_.substr(at_, end - at_);
    at_ = end;
  }

  const std::string& text_;
  size_t at_ = 0;
  int line_ = 1, next_line_ = 1;
  std::string word_;
};

/// Bytes of a type as it is stored; a predicate has a word of its own.
int64_t bytes_of(const std::string& type, const Words& words) {
  if (type == "pred") return 4;
  if (type.size() < 2 || std::string("busf").find(type[0]) == std::string::npos ||
      type.find_first_not_of("0123456789", 1) != std::string::npos)
    words.fail("unknown type ." + type);
  return std::stoll(type.substr(1)) / 8;
}

class Reader {
 public:
  explicit Reader(const std::string& text) : words_(text) {}

  Module module() {
    while (!words_.done()) directive();
    return std::move(module_);
  }

 private:
  void directive() {
    const std::string word = words_.word();
    if (word == ".target") {
      words_.take();
      module_.target = words_.word();
      words_.skip_line();
    } else if (word == ".version" || word == ".alias" || word == ".pragma") {
      words_.skip_line();
    } else if (word == ".address_size") {
      words_.take();
      if (words_.number() != 64) words_.fail("addresses must have 64 bits");
    } else if (word == ".file") {
      words_.take();
      const int number = int(words_.number());
      std::string name = words_.word();
      module_.files[number] = name.substr(1, name.size() - 2);
      words_.skip_line();
    } else if (word == ".section") {
      while (words_.word() != "}" && !words_.done()) words_.take();
      words_.expect("}");
    } else if (word == ".visible" || word == ".weak" || word == ".extern" || word == ".common") {
      is_extern_ = words_.take() == ".extern";
    } else if (word == ".entry" || word == ".func") {
      module_.functions.push_back(function());
      is_extern_ = false;
    } else if (word == ".global" || word == ".const" || word == ".shared") {
      module_.variables.push_back(variable());
      module_.variables.back().is_extern = std::exchange(is_extern_, false);
      words_.expect(";");
    } else {
      words_.fail("unknown directive");
    }
  }

  /// .shared .align 16 .b8 name[12] = {...}; parameters may lack the space (5.4).
  Variable variable() {
    Variable made;
    bool is_pointer = false;
    for (;;) {
      if (words_.take_if(".align")) {
        const auto align = int64_t(words_.number());
        if (!is_pointer) made.align = align;  // behind .ptr: of what it points to (5.4.6)
      } else if (words_.word() == ".ptr" || words_.word() == ".reg") {
        is_pointer |= words_.take() == ".ptr";
      } else if (is_space(words_.word())) {
        const std::string space = words_.take().substr(1);
        if (made.space.empty()) made.space = space;  // a second one is what a pointer points to
      } else if (made.type.empty() && words_.word()[0] == '.') {
        made.type = words_.take().substr(1);
      } else {
        break;
      }
    }
    made.name = words_.take();
    const int64_t size = bytes_of(made.type, words_);
    made.bytes = size;
    made.align = std::max(made.align, size);
    if (words_.take_if("[")) {
      made.bytes = words_.word() == "]" ? 0 : int64_t(words_.number()) * size;
      words_.expect("]");
    }
    if (words_.take_if("=")) initial_values(made, size);
    return made;
  }
  static bool is_space(const std::string& word) {
    return word == ".global" || word == ".const" || word == ".shared" || word == ".local" ||
           word == ".param";
  }
  void initial_values(Variable& made, int64_t size) {
    const bool many = words_.take_if("{");
    do {
      const char first = words_.word().empty() ? ' ' : words_.word()[0];
      if (first != '-' && std::isdigit(static_cast<unsigned char>(first)) == 0)
        words_.fail("an address as an initial value");
      const uint64_t value = words_.number();
      for (int64_t k = 0; k < size; ++k) made.data.push_back(uint8_t(value >> 8 * k));
    } while (many && words_.take_if(","));
    if (many) words_.expect("}");
  }
  std::vector<Variable> variables() {
    std::vector<Variable> made;
    words_.expect("(");
    while (!words_.take_if(")")) {
      made.push_back(variable());
      words_.take_if(",");
    }
    return made;
  }

  std::unique_ptr<Function> function() {
    auto made = std::make_unique<Function>();
    made->is_entry = words_.take() == ".entry";
    if (words_.word() == "(") made->results = variables();
    made->name = words_.take();
    if (words_.word() == "(") made->params = variables();
    bounds(*made);
    if (words_.take_if(";")) return made;
    made->has_body = true;
    words_.expect("{");
    function_ = made.get();
    scopes_.assign(1, {});
    source_line_ = source_file_ = 0;
    body();
    return made;
  }
  /// Performance directives (11.4).
  void bounds(Function& made) {
    for (;;) {
      if (words_.word() == ".maxntid" || words_.word() == ".reqntid") {
        words_.take();
        made.max_threads = int(words_.number());
        while (words_.take_if(",")) made.max_threads *= int(words_.number());
      } else if (words_.word() == ".minnctapersm" || words_.word() == ".maxnreg") {
        words_.take();
        words_.number();
      } else if (!words_.take_if(".noreturn")) {
        return;
      }
    }
  }

  /// A name as the innermost scope that declares it calls it: call sequences declare the same names
  /// again and again.
  std::string own(const std::string& name) const {
    for (size_t k = scopes_.size(); k-- > 0;)
      if (const auto found = scopes_[k].find(name); found != scopes_[k].end()) return found->second;
    return name;
  }
  void declare(std::string& name) {
    if (scopes_.size() == 1) return;
    std::string made = name + "@" + std::to_string(++unique_);
    scopes_.back()[name] = made;
    name = std::move(made);
  }

  void body() {
    while (!words_.take_if("}")) {
      if (words_.done()) words_.fail("a body without an end");
      if (words_.take_if("{")) {
        scopes_.emplace_back();
        body();
        scopes_.pop_back();
      } else if (words_.take_if(".reg")) {
        registers();
      } else if (is_space(words_.word())) {
        Variable made = variable();
        declare(made.name);
        function_->variables.push_back(std::move(made));
        words_.expect(";");
      } else if (words_.take_if(".loc")) {
        source_file_ = int(words_.number()), source_line_ = int(words_.number());
        words_.skip_line();
      } else if (words_.take_if(".pragma")) {
        pragma();
      } else {
        statement();
      }
    }
  }
  void registers() {
    const std::string type = words_.take().substr(1);
    do {
      std::string name = words_.take();
      if (words_.take_if("<")) {
        function_->numbered[name] = {type, int(words_.number())};
        words_.expect(">");
      } else {
        declare(name);
        function_->registers[name] = type;
      }
    } while (words_.take_if(","));
    words_.expect(";");
  }
  /// "used_bytes_mask N" stands before a load that was widened.
  void pragma() {
    const std::string mask = "\"used_bytes_mask ";
    do {
      const std::string word = words_.take();
      if (word.compare(0, mask.size(), mask) == 0)
        used_ = uint32_t(std::stoul(word.substr(mask.size()), nullptr, 0));
    } while (words_.take_if(","));
    words_.expect(";");
  }

  Operand operand() {
    if (words_.done()) words_.fail("an operand without an end");
    Operand made;
    const char first = words_.word()[0];
    if (first == '{' || first == '(') {
      words_.take();
      made.kind = Operand::list;
      while (!words_.take_if(first == '{' ? "}" : ")")) {
        made.parts.push_back(operand());
        words_.take_if(",");
      }
    } else if (words_.take_if("[")) {
      made.kind = Operand::address;
      if (std::isdigit(static_cast<unsigned char>(words_.word()[0])) != 0)
        made.value = words_.number();
      else
        made.text = own(words_.take());
      if (words_.take_if("+")) made.value = words_.number();
      words_.expect("]");
    } else if (first == '-' || std::isdigit(static_cast<unsigned char>(first)) != 0) {
      made.kind = Operand::number;
      made.value = words_.number();
    } else {
      made.is_negated = words_.take_if("!");
      made.text = own(words_.take());
      if (words_.take_if("|")) {  // two results
        Operand both;
        both.kind = Operand::list;
        both.parts.push_back(std::move(made));
        both.parts.push_back(operand());
        return both;
      }
    }
    return made;
  }
  void statement() {
    Statement made;
    made.line = words_.line();
    made.source_line = source_line_, made.source_file = source_file_;
    if (words_.take_if("@")) {
      made.is_negated = words_.take_if("!");
      made.guard = own(words_.take());
    }
    const std::string word = words_.take();
    if (words_.take_if(":")) return label(word);
    made.used = std::exchange(used_, ~0u);
    size_t begin = 0, dot = word.find('.');
    made.opcode = word.substr(0, dot);
    while (dot != std::string::npos) {
      begin = dot + 1;
      dot = word.find('.', begin);
      made.modifiers.push_back(word.substr(begin, dot - begin));
    }
    while (!words_.take_if(";")) {
      if (words_.done()) words_.fail("a statement without an end");
      made.operands.push_back(operand());
      words_.take_if(",");
    }
    function_->code.push_back(std::move(made));
  }
  void label(const std::string& name) {
    if (words_.take_if(".branchtargets")) {
      do function_->targets[name].push_back(words_.take());
      while (words_.take_if(","));
      words_.expect(";");
    } else if (words_.word() == ".callprototype") {
      words_.fail("a call through a pointer");
    } else {
      const int next = int(function_->code.size());
      if (!function_->labels.emplace(name, next).second) words_.fail("label " + name + " again");
    }
  }

  Words words_;
  Module module_;
  Function* function_ = nullptr;
  bool is_extern_ = false;
  uint32_t used_ = ~0u;
  int unique_ = 0, source_line_ = 0, source_file_ = 0;
  std::vector<std::map<std::string, std::string>> scopes_;
};

}  // namespace

Module read_module(const std::string& text) {
  return Reader(text).module();
}

}  // namespace ge::ptx
