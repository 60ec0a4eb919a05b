#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "core/request/unknown_name.hpp"
#include "core/request/variables.hpp"
#include "tests/unit/core/support/requests.hpp"

/// docs/requests.md lists everything that a request can have, and each of its examples is valid.
namespace cgpu::request {
namespace {

using namespace cgpu::test;

std::string page() {
    std::ifstream file(CGPU_TEST_PAGE);
    std::stringstream text;
    text << file.rdbuf();
    return text.str();
}

/// The entries `NAME=VALUE` of its tables.
std::vector<std::pair<std::string, std::string>> examples() {
    const std::string text = page();
    const std::regex example("\\| `([A-Za-z./_0-9-]+)=([^`]*)` \\|");
    std::vector<std::pair<std::string, std::string>> found;
    for (std::sregex_iterator it(text.begin(), text.end(), example), end; it != end; ++it)
        found.emplace_back((*it)[1], (*it)[2]);
    return found;
}

TEST(RequestPage, HasAnExampleOfEachName) {
    std::set<std::string> shown;
    for (const auto& [name, value] : examples()) shown.insert(name);
    const std::set<std::string> known = {
        std::string(names::kMemContainer),  std::string(names::kMemDev),
        std::string(names::kMemUnit),       std::string(names::kVisibleDevices),
        std::string(names::kSchdWeight),    std::string(names::kHighPrio),
        std::string(names::kNvidiaDevices), std::string(names::kDisable),
        std::string(names::kOwner),         std::string(names::kOwnerAnnotation),
        std::string(names::kMem),           std::string(names::kCompute),
        std::string(names::kWeight),        std::string(names::kGpus),
        std::string(names::kPrio),          std::string(names::kMode),
        std::string(names::kVolcanoMem),    std::string(names::kVolcanoCore),
        std::string(names::kAliyunMem),     std::string(names::kAliyunCount),
        std::string(names::kProfile),       std::string(names::kWait),
        std::string(names::kIdle),          std::string(names::kReservation)};
    EXPECT_EQ(shown, known);
}

TEST(RequestPage, ItsExamplesAreAccepted) {
    ASSERT_FALSE(examples().empty());
    for (const auto& [name, value] : examples()) {
        Variables variables = {{name, value}};
        EXPECT_FALSE(find_unknown_name(variables)) << name;
        if (name == names::kDisable) {
            EXPECT_TRUE(is_unmanaged(variables));
            continue;
        }
        const auto alone = parse_request(variables);
        if (!alone || !*alone) variables[std::string(names::kMemContainer)] = "4";
        const auto with_memory = parse_request(variables);
        ASSERT_TRUE(with_memory.has_value()) << name << "=" << value << ": " << with_memory.error().text;
        EXPECT_TRUE(with_memory->has_value()) << name << "=" << value;
    }
}

}  // namespace
}  // namespace cgpu::request
