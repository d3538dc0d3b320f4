#pragma once

#include <memory>

namespace sorrel::config {

// The base of a program's options struct: every value that its configuration can set. The functions
// of this folder use this base only; the rows of a table use the concrete type.
//
// The member initialisers of the struct are the defaults: CONFIG GET, CONFIG REWRITE and the
// documented file read them from a new struct.
class Values {
 public:
  virtual ~Values() = default;
  // Creates a struct of the same type, with the defaults or with these values.
  virtual std::unique_ptr<Values> defaults() const = 0;
  virtual std::unique_ptr<Values> copy() const = 0;
  // `other` is of the same type.
  virtual void take(const Values& other) = 0;

 protected:
  Values() = default;
  Values(const Values&) = default;
  Values& operator=(const Values&) = default;
};

// struct Options : ValuesOf<Options> { ... };
template <class Options>
class ValuesOf : public Values {
 public:
  std::unique_ptr<Values> defaults() const override { return std::make_unique<Options>(); }
  std::unique_ptr<Values> copy() const override {
    return std::make_unique<Options>(static_cast<const Options&>(*this));
  }
  void take(const Values& other) override {
    static_cast<Options&>(*this) = static_cast<const Options&>(other);
  }
};

}  // namespace sorrel::config
