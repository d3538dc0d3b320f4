#pragma once

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>

namespace sorrel {

// Immutable bytes with shared ownership: one allocation with a reference count in front. Copying a
// handle increments the count, the last handle frees the bytes.
//
//   SharedBytes  ──┐
//   SharedBytes  ──┼──> [ owners | size | bytes ... ]
//   SharedBytes  ──┘
//
// Thread rule: one handle is used by one thread at a time; handles of one block may be copied and
// destroyed in different threads.
class SharedBytes {
 public:
  SharedBytes() = default;  // no bytes
  static SharedBytes copy_of(std::string_view bytes) {
    if (bytes.empty()) return {};
    void* const memory = ::operator new(sizeof(Block) + bytes.size());
    auto* const block = new (memory) Block{{1}, bytes.size()};
    std::memcpy(block->bytes(), bytes.data(), bytes.size());
    return SharedBytes(block);
  }

  SharedBytes(const SharedBytes& other) : block_(other.block_) {
    if (block_ != nullptr) block_->owners.fetch_add(1, std::memory_order_relaxed);
  }
  SharedBytes(SharedBytes&& other) noexcept : block_(std::exchange(other.block_, nullptr)) {}
  SharedBytes& operator=(SharedBytes other) noexcept {
    std::swap(block_, other.block_);
    return *this;
  }
  ~SharedBytes() {
    // Acquire: the last owner sees the accesses of the others before their release.
    if (block_ != nullptr && block_->owners.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      block_->~Block();
      ::operator delete(block_);
    }
  }

  // Valid while any handle of the block exists.
  std::string_view view() const {
    return block_ == nullptr ? std::string_view() : std::string_view(block_->bytes(), block_->size);
  }
  size_t size() const { return block_ == nullptr ? 0 : block_->size; }
  bool empty() const { return block_ == nullptr; }
  // The number of handles; for tests, while no other thread copies or destroys one.
  size_t owners() const {
    return block_ == nullptr ? 0 : block_->owners.load(std::memory_order_relaxed);
  }

 private:
  struct Block {
    std::atomic<size_t> owners;
    size_t size;
    char* bytes() { return reinterpret_cast<char*>(this + 1); }
  };

  explicit SharedBytes(Block* block) : block_(block) {}

  Block* block_ = nullptr;
};

}  // namespace sorrel
