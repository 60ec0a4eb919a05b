#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <span>
#include <string_view>

/// What a front answers to a look-up by cuGetProcAddress. The generated table is made from cuda_api.tsv and
/// the front's hooks.txt.
namespace cgpu::module {

using Hook = void (*)();

/// A function of the driver.
struct HookRow {
    const char* base;    ///< what cuGetProcAddress is asked for: "cuMemAlloc"
    const char* symbol;  ///< what the driver exports: "cuMemAlloc_v2"
    Hook hook;           ///< null: the front has none for it
};

/// The functions of the front that this is linked into: every known one whose base name belongs to at least
/// one hook (generated). Sorted by base.
std::span<const HookRow> hook_table();

/// The most rows of a table.
constexpr std::size_t kMostHookRows = 512;

/// Chooses hooks by the addresses that the driver answered.
///
/// The address is the only reliable fact. Which function belongs to a name, a version and flags differs from
/// driver to driver: one that is older than the table has no newer function, a newer one may have another,
/// and versions are unsigned, so -1 means the newest. But each driver exports the functions that it answers
/// with.
///
/// It allocates nothing and takes no lock, so a fork at any moment leaves it usable in the child.
class HooksByAddress {
  public:
    using Table = std::span<const HookRow>();
    constexpr explicit HooksByAddress(Table* table) : table_(table) {}

    /// `function`: what the program is to get, null if the look-up must be refused.
    ///   - The driver answered a function that has a hook: the hook.
    ///   - It answered another one of the table: that one.
    ///   - It answered an address that none of the table's functions has: that one, unless the name belongs
    ///     to a hook. Then it is a form of the function with unknown arguments: refused.
    /// `address_of` gives the driver's address of an exported symbol, null if it doesn't export it. It is
    /// asked for each row at the first call, and the driver must be available then.
    [[nodiscard]] const void* answer(std::string_view name, const void* answered,
                                     void* (*address_of)(const char* symbol));

  private:
    /// An address of the driver, and the number of its row.
    struct Place {
        std::atomic<const void*> address{nullptr};
        std::atomic<std::size_t> row{0};
    };

    void find_places(void* (*address_of)(const char* symbol));
    [[nodiscard]] const HookRow* row_at(const void* address) const;
    [[nodiscard]] bool has_hook(std::string_view base) const;

    Table* table_;
    /// Sorted by address. Threads that come first at the same time write the same values.
    std::array<Place, kMostHookRows> places_{};
    std::atomic<std::size_t> count_{0};  ///< 0: not found yet
};

}  // namespace cgpu::module
