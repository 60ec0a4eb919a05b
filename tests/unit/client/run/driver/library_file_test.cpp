#include "client/run/driver/library_file.hpp"

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <chrono>
#include <fstream>
#include <set>

#include "client/run/driver/driver_files.hpp"
#include "tests/unit/client/support/temp_root.hpp"

namespace cgpu::client {
namespace {

namespace fs = std::filesystem;

unsigned machine_at(const TempRoot& root, const std::string& path) {
    return machine_of_driver(Descriptor(open(root.at(path).c_str(), O_RDONLY | O_CLOEXEC)));
}

TEST(DriversName, IsABaseAloneOrWithAVersion) {
    for (const char* name : {"libcuda.so", "libcuda.so.1", "libcuda.so.535.104.05", "libnvidia-ml.so.1",
                             "libnvidia-opencl.so.1", "libnvidia-opencl.so"})
        EXPECT_TRUE(has_drivers_name(name)) << name;
    for (const char* name : {"libcuda.so1", "libcuda.so.1.bak", "libcudart.so.1", "xlibcuda.so.1", "libcuda",
                             "", "libcuda.so.1 (deleted)", "libnvidia-ml.so-1", "libcuda.so.1/"})
        EXPECT_FALSE(has_drivers_name(name)) << name;
}

TEST(MachineOfDriver, IsThatOfALibraryWithTheDriversSoname) {
    const TempRoot root;
    root.library("/libcuda.so.535.1");
    root.library("/libnvidia-opencl.so.1", ELFCLASS32, EM_386);
    root.library_named("/libnvidia-ml.so.1", "libnvidia-ml.so.1");
    EXPECT_EQ(machine_at(root, "/libcuda.so.535.1"), k64Bit);
    EXPECT_EQ(machine_at(root, "/libnvidia-opencl.so.1"), k32Bit);
    EXPECT_EQ(machine_at(root, "/libnvidia-ml.so.1"), k64Bit);
    root.library("/libcuda.so.2", ELFCLASS64, EM_AARCH64);
    root.library("/libcuda.so.3", ELFCLASS32, EM_X86_64);
    root.library_named("/libcuda.so.4", "libcuda.so");
    root.library_named("/libcuda.so.5", "libcuda.so.1 ");
    root.library_named("/libcuda.so.6", "libcuda.so.11");
    root.library_named("/libcuda.so.7", "");
    root.file("/libcuda.so.8", "");
    for (int i = 2; i <= 8; ++i) EXPECT_EQ(machine_at(root, "/libcuda.so." + std::to_string(i)), 0U) << i;
    EXPECT_EQ(machine_at(root, "/none"), 0U);
}

/// A folder of links with a driver's name to every file: whose name and content decide, if anything, must be
/// the files' own. Every user may make such links.
class LinksToAll {
  public:
    LinksToAll() {
        for (const LibraryKind& kind : kLibraryKinds) {
            const std::string soname = std::string(kind.base) + ".1";
            system_.push_back({soname, {"/system/" + soname, {}}, {{"/system/" + soname, {}}}, kind.hidden});
        }
    }

    void add(const fs::path& file) {
        if (files_ % 2000 == 0) root_.folder("/" + std::to_string(folder_));
        for (const char* base : {"libcuda.so.1.", "libnvidia-ml.so.1.", "libnvidia-opencl.so.1."})
            fs::create_symlink(file,
                               root_.at("/" + std::to_string(folder_) + "/" + base + std::to_string(files_)));
        if (++files_ % 2000 == 0) judge();
    }
    /// By the very names that a loader looks for.
    void add_by_name(const fs::path& file) {
        const std::string folder = "/named/" + std::to_string(++named_);
        for (const char* base : {"libcuda.so", "libnvidia-ml.so", "libnvidia-opencl.so"})
            for (const char* version : {"", ".1", ".535.104.05"})
                root_.link(folder + "/" + base + version, file.native());
        judge(root_.at(folder));
    }

    void judge() {
        judge(root_.at("/" + std::to_string(folder_)));
        root_.folder("/" + std::to_string(++folder_));
    }

    void judge(const std::string& folder) {
        // Root's own links: there, no file is left out for its owner's sake.
        const auto found = find_copies(*Root::open("/"), {folder, ""}, system_, 0);
        ASSERT_TRUE(found) << found.error().text;
        for (const DriverLibrary& library : found->libraries)
            for (const LibraryFile& file : library.files) covered_.insert(file.path);
        fs::remove_all(folder);
    }

    [[nodiscard]] std::size_t files() const { return files_; }
    [[nodiscard]] const std::set<std::string>& covered() const { return covered_; }

  private:
    /// In memory where possible: there are hundreds of thousands of them.
    const TempRoot root_{fs::exists("/dev/shm") ? fs::path("/dev/shm") : fs::temp_directory_path()};
    std::vector<DriverLibrary> system_;
    std::size_t files_ = 0;
    std::size_t folder_ = 0;
    std::size_t named_ = 0;
    std::set<std::string> covered_;
};

TEST(MachineOfDriver, LinksOfEveryNameToEveryFileOfTheSystemCoverNoneButDrivers) {
    LinksToAll links;
    std::size_t set_uid = 0;
    for (const char* top : {"/usr/bin", "/usr/sbin", "/usr/lib", "/usr/libexec", "/usr/lib64", "/usr/local",
                            "/bin", "/sbin", "/lib", "/etc"}) {
        if (fs::is_symlink(top) || !fs::exists(top)) continue;
        std::error_code failed;
        const auto end = fs::recursive_directory_iterator();
        auto entry =
            fs::recursive_directory_iterator(top, fs::directory_options::skip_permission_denied, failed);
        for (; !failed && entry != end; entry.increment(failed)) {
            // The fronts of an installed cgpu have the driver's SONAME, as they must.
            if (entry->path() == "/usr/lib/cgpu") entry.disable_recursion_pending();
            struct stat info {};
            if (lstat(entry->path().c_str(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
            links.add(entry->path());
            if ((info.st_mode & (S_ISUID | S_ISGID)) == 0) continue;
            ++set_uid;
            links.add_by_name(entry->path());
        }
    }
    links.judge();
    EXPECT_GT(links.files(), 1000U);
    EXPECT_GT(set_uid, 0U);
    for (const std::string& path : links.covered()) {
        EXPECT_TRUE(has_drivers_name(fs::path(path).filename().native())) << path;
        struct stat info {};
        ASSERT_EQ(stat(path.c_str(), &info), 0);
        EXPECT_EQ(info.st_mode & (S_ISUID | S_ISGID), 0U) << path;
    }
    RecordProperty("files", static_cast<int>(links.files()));
    RecordProperty("set_uid", static_cast<int>(set_uid));
}

}  // namespace
}  // namespace cgpu::client
