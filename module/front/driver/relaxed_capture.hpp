#pragma once

namespace cgpu::front {

/// Around the front's own driver calls while the program captures a graph: without it a capture in global
/// mode would be broken by them.
class RelaxedCapture {
  public:
    RelaxedCapture();
    ~RelaxedCapture();
    RelaxedCapture(const RelaxedCapture&) = delete;
    RelaxedCapture& operator=(const RelaxedCapture&) = delete;

  private:
    bool exchanged_ = false;
    int mode_ = 0;
};

}  // namespace cgpu::front
