// What an experiment supposes of a program's host code, to see what would be different: of no use
// for a trial whose result counts (harness/causes).
#pragma once

namespace warpcheck::cudart {

struct Suppositions {
  // Each operation of a stream comes after all that were submitted before it, to any stream.
  bool one_stream = false;
  // What cudaMalloc() returns holds zeros.
  bool zeroed_memory = false;
  // The host waits for each operation before it goes on.
  bool host_waits = false;
  // Memory of the device is never freed.
  bool late_frees = false;
  friend bool operator==(const Suppositions&, const Suppositions&) = default;
};

// What is supposed now; outside of a Supposing nothing is.
inline const Suppositions& suppositions();

// The trials of this process suppose it as long as the object lives.
class Supposing {
 public:
  explicit Supposing(const Suppositions& supposed) : before_(of_process()) {
    of_process() = supposed;
  }
  ~Supposing() { of_process() = before_; }
  Supposing(const Supposing&) = delete;
  Supposing& operator=(const Supposing&) = delete;

 private:
  friend const Suppositions& suppositions();
  static Suppositions& of_process() {
    static Suppositions supposed;
    return supposed;
  }

  Suppositions before_;
};

inline const Suppositions& suppositions() { return Supposing::of_process(); }

}  // namespace warpcheck::cudart
