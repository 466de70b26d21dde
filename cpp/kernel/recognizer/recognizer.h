// Recognises bytes from a configuration on, with push and pop, so that a trie can be walked with it.
//
// A configuration is a set of items (state, register, stack) and whether the grammar may end here. Pushing a byte
//   1. moves every item by its own transition, and starts every rule that an item calls and whose FIRST set has the
//   byte;
//      all callers of one rule share one new stack node, rules are started in order of rank so that each node is
//      complete;
//   2. returns from every item whose rule may end: its frames' targets become items, and so on.
// Of items that differ only in what they have counted, and of such frames, those go that another one covers: however a
// text is split among repetitions, as by `([a-z]{1,30} | "<b>")*`, whichever may still have most characters stays. To
// see that they stand on the same stack, a rule that begins where the last one ended gets that one's. Calls whose
// return could do nothing but return again push no frame. Nodes made here are scratch: dropped by pop. Callees that are
// instances of parametric rules are linked when a state that calls them is scanned, not before.
//
// What a rule with a span calls stays on a marked node of its own (stack_store.h). A rule past its deadline cannot be
// returned from: its budget is kept here. That it can be kept to the end is seen to in budget.h.
//
// Of rules that have to do with remembered text (remembered.h), one that remembers takes each byte into its register,
// and returns with it to its scope; one that recalls goes on as its register says. An element of a list of distinct
// ones (text_sets.h) goes on only where it can still become another text than those before it.
//
// A value that must differ from others whatever its spelling may hold rules of any kind, and values in lists of its
// own. So there is one text for all of them, of what has been read since the outermost one began, kept as long as some
// item is in a value. The register of a value's rule tells where in this text it began, or kUnknownBegin. A value
// returns to its lists where it may end, and is compared when what closes it comes, or at once if nothing else may
// come. Where its beginning is not known it is taken for a new one. That this was decided is said of all that follows.
//
// With the root stack taken for "unknown", the same machine walks an automaton state whose callers are not known:
// reaching the end then means that the rule may end. Cost: a few ns per byte for one item that stays in its rule. No
// allocation once warm. Source: Earley 1970; Scott and Johnstone 2010 (GLL). Tested by tests/exhaustive.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "recognizer/stack_store.h"
#include "recognizer/text_sets.h"
#include "rules/rule.h"
#include "support/work.h"

namespace maskwright {

struct Item {
  DfaState* state;
  uint64_t reg;
  StackId stack;
  bool operator==(const Item&) const = default;
  auto operator<=>(const Item&) const = default;
};

// The union of the bytes that may come next, but for those of recalled texts; a superset where rules with & or ~ are
// concerned.
ByteSet next_bytes(std::span<const Item> items);

// A set of stacks that mostly stays small.
class StackSet {
 public:
  void clear() {
    stacks_.clear();
    slots_.clear();
  }
  // Whether the stack was not there.
  bool insert(StackId stack);

 private:
  static constexpr size_t kLinear = 16;
  static constexpr StackId kFree = ~StackId{0};
  void insert_slot(StackId stack);
  std::vector<StackId> stacks_;
  std::vector<StackId> slots_;  // open addressing, from kLinear stacks on
};

// The register of a value's rule where only what follows is read.
inline constexpr uint64_t kUnknownBegin = ~uint64_t{0};

class Recognizer {
 public:
  // Starts over from a configuration whose stacks live in `store` (or are the root). Both must outlive the use. `clock`
  // is the number of tokens from the one that is read next until a deadline of zero; `text` that of the values that
  // items are in.
  void reset(const StackStore& store, std::span<const Item> items, bool complete, int64_t clock = 0,
             CellId text = kNoCell);
  // Starts over from what follows a return to these frames; of a value, whichever it is.
  void reset_after_return(const StackStore& store, std::span<const Frame> frames, const Rule& rule, int64_t clock = 0);
  // The same where what returns is a text to remember, made of one that the store has and of these bytes.
  void reset_after_text(const StackStore& store, std::span<const Frame> frames, uint8_t number, CellId text,
                        std::string_view more);

  // Moves on by one byte; returns false, and changes nothing, if no string of the grammar goes on so.
  bool push(uint8_t byte) {
    const Level top = levels_.back();
    if (items_.size() - top.items == 1) {
      // The common case: one item that stays within its rule.
      const Item item = items_.back();
      Rule& rule = *item.state->rule;
      if (item.state->calls.empty() && byte != rule.terminator() && !rule.reads_text()) {
        if (!may_repeat(*item.state, item.reg)) return false;
        DfaState* t = rule.next(*item.state, byte);
        if (!t) return false;
        if (!t->final && !(t->counter_head && rule.terminator() < 0)) {
          const uint64_t reg = entering(*t, item.reg);
          if (!may_complete(*t, reg)) return false;
          levels_.push_back({items_.size(), frames_.size(), nodes_.size(), static_cast<uint32_t>(cells_.size()), false,
                             top.has_decided, kNoCell});
          if (top.text != kNoCell) levels_.back().text = extend(top.text, byte);
          items_.push_back({t, reg, item.stack});
          return true;
        }
      }
    }
    return push_any(byte);
  }
  // As push, but no item calls a rule.
  bool push_own(uint8_t byte);
  // Moves on by one token that is taken as such; with `only_named`, not by sets of all tokens but some. Only from a
  // configuration at a token's edge.
  bool push_token(TokenId token, bool only_named = false);
  void pop() {
    const Level& top = levels_.back();
    items_.resize(top.items);
    frames_.resize(top.frames);
    nodes_.resize(top.nodes);
    cells_.resize(top.cells);
    levels_.pop_back();
  }
  void pop(size_t levels) {
    for (; levels > 0; --levels) pop();
  }
  // Whether the grammar may end here.
  bool complete() const { return levels_.back().complete; }
  // Whether it depended on a value since the start what may follow.
  bool has_decided() const { return levels_.back().has_decided; }
  // Of the values that items are in.
  CellId text() const { return levels_.back().text; }
  std::span<const Item> items() const { return std::span(items_).subspan(levels_.back().items); }
  std::span<const Frame> frames(StackId stack) const {
    if (stack < kScratch) return store_->frames(stack);
    const Node& node = nodes_[stack - kScratch];
    return std::span(frames_).subspan(node.begin, node.size);
  }
  const StackMark& mark(StackId stack) const {
    return stack < kScratch ? store_->mark(stack) : nodes_[stack - kScratch].mark;
  }
  const Cell& cell(CellId id) const { return id < kScratchCell ? store_->cells().cell(id) : cells_[id - kScratchCell]; }
  size_t num_scratch_cells() const { return cells_.size(); }
  const StackStore& store() const { return *store_; }
  ByteSet next_bytes() const;
  // Those by which a text is recalled next.
  ByteSet recalled_bytes(const Item& item) const;
  // Whether an element may not become every text that its automaton reads from where it is.
  static bool avoids(const Item& item) {
    return item.state->rule->memory().kind == MemoryRole::Kind::Element && Spelled::of(item.reg).avoided != kNoTexts;
  }
  // Starts over from what follows an element, made of one in progress and of these bytes; from nothing, if it would
  // repeat an earlier one. `checks`: or else as if it did not.
  void reset_after_element(const StackStore& store, std::span<const Frame> frames, uint64_t reg, std::string_view more,
                           bool checks);
  std::string text_of(CellId text, uint32_t begin = 0) const;
  // Whether every one of these lists can have another element after the one that has this register, whatever becomes of
  // it.
  bool stay_open(std::span<const Frame> lists, uint64_t reg) const;
  // Of a list of distinct elements: whether another one may follow, or the rest of what comes before it; or of what
  // closes a value.
  bool may_have_another(const Item& list) const;
  // Whether the set is one to which a value was added last that it had before.
  bool repeats_value(CellId set) const;
  // Whether what stands on the stack is part of a value.
  bool in_value(StackId stack) const {
    return stack < kScratch ? store_->in_value(stack) : nodes_[stack - kScratch].in_value;
  }
  // The only item, or nullptr if there are several or none.
  const Item* sole_item() const { return items_.size() - levels_.back().items == 1 ? &items_.back() : nullptr; }

 private:
  static constexpr size_t kSpentTogether = 1024;
  struct Level {
    size_t items, frames, nodes;  // where the level's own begin
    uint32_t cells;
    bool complete;
    bool has_decided = false;
    CellId text = kNoCell;
  };
  struct Node {
    uint32_t begin, size;
    StackMark mark;
    bool in_value;
  };
  struct Pending {
    Rule* callee;
    uint64_t reg;
    Frame sole;  // of a single caller that needs no frame: its stack is the parent
    bool has_sole;
    std::vector<Frame> frames;
  };
  bool push_any(uint8_t byte);
  // Steps are counted here first: reaching the count of the thread is expensive.
  void spend(size_t steps) const {
    unspent_ += steps;
    if (unspent_ < kSpentTogether) return;
    Work::spend(std::exchange(unspent_, 0));
  }
  void begin_level();
  bool end_level();
  void add_call(const Item& caller, CallEdge& call);
  void add_tail_frames(Pending& pending, const Frame& frame);
  void scan(const Item& item, uint8_t byte);
  void scan_calls(const Item& item, uint8_t byte);
  void scan_calls_of_list(const Item& list, uint8_t byte);
  void scan_own(const Item& item, uint8_t byte);
  void scan_element(const Item& item, DfaState& target, uint8_t byte);
  void scan_token(const Item& item, TokenId token, bool only_named);
  void scan_recalled(const Item& item, uint8_t byte);
  CellId add_cell(const Cell& cell);
  CellId push_cell(const Cell& cell);
  CellId extend(CellId text, uint8_t byte);
  uint64_t called_register(const Item& caller, const CallEdge& call) const;
  void remember(std::span<const Frame> frames, uint8_t number, CellId text);
  void add_to_lists(std::span<const Frame> frames, CellId text);
  void return_text(const Item& item);
  bool may_close(const Item& list);
  void return_value(const Item& item);
  void return_unknown_value(std::span<const Frame> frames);
  void read_into_text(uint8_t byte);
  void keep_text();
  CellId looked_into(CellId set, Rule& list);
  template <class Scan>
  void run_calls(Scan&& scan);
  StackId stack_of(std::span<const Frame> frames, const StackMark& mark);
  void add_item(const Item& item);
  void return_from(StackId stack);
  void return_to(const Frame& frame);
  void complete_returns();

  const StackStore* store_ = nullptr;
  int64_t clock_ = 0;
  CellId text_before_ = kNoCell;  // that of the level before
  int byte_ = -1;                 // that the level is for; -1 if it is for a token
  std::vector<Item> items_;
  std::vector<Frame> frames_;
  std::vector<Node> nodes_;
  std::vector<Cell> cells_;
  std::vector<Level> levels_;
  std::vector<Pending> pending_;
  size_t num_pending_ = 0;
  mutable size_t unspent_ = 0;
  bool may_cover_ = false;       // an item of the level may cover another
  StackSet returned_;            // stacks already returned from at this level
  std::vector<uint32_t> slots_;  // open-addressing set over the level's items, for large levels
};

// The cells that registers refer to: those of a store, and of a recogniser that was reset with it.
class TextView {
 public:
  explicit TextView(const StackStore& store) : store_(store.cells()) {}
  explicit TextView(const Recognizer& recognizer) : store_(recognizer.store().cells()), recognizer_(&recognizer) {}
  const Cell& cell(CellId id) const { return id < kScratchCell ? store_.cell(id) : recognizer_->cell(id); }
  const CellStore* store() const { return &store_; }
  bool has_scratch() const { return recognizer_ && recognizer_->num_scratch_cells() > 0; }
  std::string text(CellId text, uint32_t begin = 0) const;  // from there on

 private:
  const CellStore& store_;
  const Recognizer* recognizer_ = nullptr;
};

}  // namespace maskwright
