#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include "tests/fuzz/support/must.hpp"

namespace cgpu::fuzz {

/// A folder of this process's own, for what can only be read by a path. It is below TMPDIR, which
/// tests/fuzz/run sets to a folder in memory.
class Scratch {
  public:
    Scratch() {
        std::string name = (std::filesystem::temp_directory_path() / "cgpu-fuzz.XXXXXX").native();
        must(mkdtemp(name.data()) != nullptr, "a folder can be made below TMPDIR");
        folder_ = name;
    }
    ~Scratch() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
    std::filesystem::path write(const std::string& name, std::string_view content) const {
        const auto path = folder_ / name;
        std::ofstream file(path, std::ios::binary | std::ios::trunc);
        file << content;
        file.close();
        must(file.good(), "the scratch folder can be written");
        return path;
    }

  private:
    std::filesystem::path folder_;
};

}  // namespace cgpu::fuzz
