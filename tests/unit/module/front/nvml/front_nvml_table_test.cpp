// The private table from which NVIDIA's nvidia-smi takes its processes.
#include <cstring>
#include <map>
#include <memory>
#include <string>

#include "module/front/nvml/private_table.hpp"
#include "tests/unit/module/front/support/front_nvml.hpp"
#include "tests/unit/module/front/support/front_nvml_table.hpp"

namespace {

using namespace cgpu::front::nvml;
using Words = const void* const*;
using ListOfTable = int(Device, unsigned*, void*);

class NvmlTable : public NvmlFront {
  protected:
    void SetUp() override {
        NvmlFront::SetUp();
        if (!IsSkipped() && !HasFatalFailure()) daemon().processes = 2;
    }
    /// What a program gets if the driver's table has this size.
    Words table(std::size_t bytes, const char* version, bool list_is_missing = false) {
        nvml<MakeTable>("front_test_table")(bytes, version, list_is_missing);
        return got(kTableId.data());
    }
    Words got(const void* id) {
        const void* words = nullptr;
        EXPECT_EQ(get()(&words, id), kSuccess);
        return static_cast<Words>(words);
    }
    Words drivers() {
        const std::array<std::uint8_t, 16> other_id{1};
        return got(other_id.data());
    }
    std::function<int(const void**, const void*)> get() {
        return nvml<int(const void**, const void*)>("nvmlInternalGetExportTable");
    }
    static ListOfTable* list(Words words, std::size_t entry) {
        return reinterpret_cast<ListOfTable*>(const_cast<void*>(words[entry]));
    }
    /// Expects the instance's processes in all three lists: those that compute by the names that NVML tells,
    /// the others by the driver's.
    template <class Process>
    void expect_own_processes(Words words) {
        const auto processes = std::make_unique<Process[]>(8);
        for (const std::size_t entry : {kComputeList, kMpsList, kGraphicsList}) {
            unsigned count = 8;
            ASSERT_EQ(list(words, entry)(cards_[0], &count, processes.get()), kSuccess);
            ASSERT_EQ(count, 2U) << entry;
            std::map<unsigned, unsigned long long> all;
            for (unsigned i = 0; i < count; ++i) {
                all[processes[i].pid] = processes[i].used_bytes;
                EXPECT_EQ(processes[i].name, (entry == kComputeList ? "process " : "driver's ") +
                                                 std::to_string(processes[i].pid));
            }
            EXPECT_EQ(all, own_) << entry;
            EXPECT_EQ(processes[2].pid, 0U) << entry;
            EXPECT_STREQ(processes[3].name, "") << "what the driver wrote of others";
            count = 8;
            EXPECT_EQ(list(words, entry)(cards_[1], &count, processes.get()), kSuccess);
            EXPECT_EQ(count, 0U) << "a card that isn't the instance's";
        }
    }

    const std::map<unsigned, unsigned long long> own_{{1000, kMiB}, {1010, 2 * kMiB}};
};

TEST_F(NvmlTable, ListsTheInstancesProcesses) {
    const Words words = table(2008, "12.550.163.01");
    ASSERT_NE(words, drivers());
    expect_own_processes<NamedProcessDetail>(words);
    std::size_t bytes = 0;
    std::memcpy(&bytes, words, sizeof bytes);
    EXPECT_EQ(bytes, 2008U);
    for (std::size_t entry = 1; entry < bytes / sizeof(void*); ++entry)
        EXPECT_EQ(words[entry] != drivers()[entry],
                  entry == kHandleByIndex || (entry >= kComputeList && entry <= kGraphicsList))
            << entry;
    EXPECT_EQ(got(kTableId.data()), words) << "asked for again";
}

TEST_F(NvmlTable, ListsThemIn525sForm) {
    const Words words = table(1904, "");  // it doesn't tell its version before nvmlInit
    ASSERT_NE(words, drivers());
    expect_own_processes<NamedProcess>(words);
}

TEST_F(NvmlTable, NumbersTheInstancesGpusFromZero) {
    const Words words = table(2008, "12.550.163.01");
    const auto by_index = [&](unsigned index, unsigned flags, Device& device) {
        return reinterpret_cast<int (*)(unsigned, Device*, unsigned)>(
            const_cast<void*>(words[kHandleByIndex]))(index, &device, flags);
    };
    Device device = nullptr;
    EXPECT_EQ(by_index(0, 0x22, device), kSuccess);
    EXPECT_EQ(device, cards_[0]);
    device = nullptr;
    EXPECT_EQ(by_index(1, 0x22, device), kInvalidArgument);
    EXPECT_EQ(device, nullptr);
    EXPECT_EQ(by_index(0, 0, device), kNotSupported) << "the flags are the caller's";
}

TEST_F(NvmlTable, OfAnUnknownLayoutIsTheDriversOwn) {
    const struct {
        std::size_t bytes;
        const char* version;
    } cases[] = {{0, "12.550.163.01"},    {8, "12.550.163.01"},      {1704, "11.470.256.02"},
                 {1928, "12.530.30.02"},  {2048, "13.590.44.01"},    {2008, ""},
                 {2008, "550"},           {2008, "12.99999999999."}, {4104, "13.580.65.06"},
                 {~0UL, "12.550.163.01"}, {1903, "12.525.147.05"}};
    for (const auto& c : cases)
        EXPECT_EQ(table(c.bytes, c.version), drivers()) << c.bytes << ' ' << c.version;
    EXPECT_NE(table(2040, "13.580.65.06"), drivers());
}

TEST_F(NvmlTable, AListThatTheDriverLacksStaysMissing) {
    const Words words = table(1960, "12.535.261.03", true);
    ASSERT_NE(words, drivers());
    EXPECT_EQ(words[kMpsList], nullptr);
    EXPECT_NE(words[kComputeList], drivers()[kComputeList]);
}

TEST_F(NvmlTable, TooLittleRoomIsAnErrorWithTheNumberNeeded) {
    const Words words = table(1960, "12.535.261.03");
    unsigned count = 0;
    EXPECT_EQ(list(words, kComputeList)(cards_[0], &count, nullptr), kInsufficientSize);
    EXPECT_EQ(count, 2U);
    const auto processes = std::make_unique<NamedProcessDetail[]>(2);
    EXPECT_EQ(list(words, kComputeList)(cards_[0], &count, processes.get()), kSuccess)
        << "the driver has more, and says that the room is too small";
    EXPECT_EQ(processes[1].pid, 1010U);
    count = 1;
    EXPECT_EQ(list(words, kComputeList)(cards_[0], &count, processes.get()), kInsufficientSize);
    EXPECT_EQ(count, 2U);
    EXPECT_EQ(list(words, kComputeList)(cards_[0], nullptr, nullptr), 2) << "the driver's own answer";
    EXPECT_EQ(list(words, kGraphicsList)(cards_[0], nullptr, nullptr), 2);
}

TEST_F(NvmlTable, TheDriversProcessesAreNeverShownInstead) {
    const Words words = table(1960, "12.535.261.03");
    take_daemon_down();
    const auto processes = std::make_unique<NamedProcessDetail[]>(8);
    for (const std::size_t entry : {kComputeList, kGraphicsList}) {
        unsigned count = 8;
        EXPECT_EQ(list(words, entry)(cards_[0], &count, processes.get()), kUnknown);
        EXPECT_EQ(count, 0U);
        for (unsigned i = 0; i < 8; ++i) {
            EXPECT_EQ(processes[i].pid, 0U);
            EXPECT_STREQ(processes[i].name, "");
        }
    }
}

}  // namespace
