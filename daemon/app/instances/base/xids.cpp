#include "daemon/app/instances/base/xids.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cgpu::app {
namespace {

constexpr std::array<std::pair<std::uint64_t, std::string_view>, 17> kMeanings = {{
    {13, "an exception in a kernel, most often an error of the program"},
    {31, "an access to memory that isn't mapped, most often an error of the program"},
    {43, "a program's work was stopped, most often by an error of the program"},
    {45, "a program's work was cleaned up, as after a program that was killed or another error"},
    {48, "an error of the card's memory that can't be corrected (double bit)"},
    {61, "a fault of the card's microcontroller"},
    {62, "a fault of the card's microcontroller"},
    {63, "a page or row of the card's memory is retired or remapped"},
    {64, "a page or row of the card's memory could not be retired or remapped"},
    {69, "an exception in a graphics engine"},
    {74, "an error of NVLink"},
    {79, "the GPU has fallen off its bus"},
    {92, "many correctable errors of the card's memory"},
    {94, "an error of the card's memory, kept to one program"},
    {95, "an error of the card's memory that reaches all programs; the GPU needs a reset"},
    {119, "the card's system processor (GSP) doesn't answer"},
    {120, "an error of the card's system processor (GSP)"},
}};

}  // namespace

std::string_view meaning_of_xid(std::uint64_t code) {
    const auto* found = std::find_if(kMeanings.begin(), kMeanings.end(),
                                     [code](const auto& each) { return each.first == code; });
    return found == kMeanings.end() ? std::string_view() : found->second;
}

}  // namespace cgpu::app
