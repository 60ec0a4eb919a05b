#pragma once

namespace cgpu::front {

/// Around the front's own driver calls while the program captures a graph: otherwise they would break a
/// capture in global mode.
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
