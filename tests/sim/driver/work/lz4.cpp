#include "tests/sim/driver/work/lz4.hpp"

namespace simgpu {

namespace {

constexpr std::size_t kShortestMatch = 4;

/// Reads a block from its beginning to its end.
class Reader {
  public:
    explicit Reader(std::span<const std::uint8_t> block) : rest_(block) {}

    bool at_end() const { return rest_.empty(); }
    std::optional<std::uint8_t> byte() {
        const auto one = take(1);
        return one ? std::optional(one->front()) : std::nullopt;
    }
    std::optional<std::span<const std::uint8_t>> take(std::size_t count) {
        if (count > rest_.size()) return std::nullopt;
        const auto taken = rest_.first(count);
        rest_ = rest_.subspan(count);
        return taken;
    }
    /// A length that begins with 4 bits of a token.
    std::optional<std::size_t> length(unsigned int bits) {
        std::size_t sum = bits;
        if (bits != 15) return sum;
        while (const auto more = byte()) {
            sum += *more;
            if (*more != 255) return sum;
        }
        return std::nullopt;
    }

  private:
    std::span<const std::uint8_t> rest_;
};

}  // namespace

std::optional<std::vector<std::uint8_t>> decompress_lz4(std::span<const std::uint8_t> block,
                                                        std::size_t most) {
    std::vector<std::uint8_t> content;
    Reader reader(block);
    while (const auto token = reader.byte()) {
        const auto literals = reader.length(*token >> 4U);
        const auto copied = literals ? reader.take(*literals) : std::nullopt;
        if (!copied || copied->size() > most - content.size()) return std::nullopt;
        content.insert(content.end(), copied->begin(), copied->end());
        if (reader.at_end()) return content;
        const auto low = reader.byte();
        const auto high = reader.byte();
        const auto more = reader.length(*token & 15U);
        if (!low || !high || !more) return std::nullopt;
        const std::size_t back = *low | static_cast<std::size_t>(*high) << 8U;
        const std::size_t match = *more + kShortestMatch;
        if (back == 0 || back > content.size() || match > most - content.size()) return std::nullopt;
        for (std::size_t i = 0; i < match; ++i) content.push_back(content[content.size() - back]);
    }
    return std::nullopt;
}

}  // namespace simgpu
