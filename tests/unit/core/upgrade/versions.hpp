#pragma once

#include <rapidcheck.h>

#include "core/upgrade/manifest.hpp"

namespace rc {

template <>
struct Arbitrary<cgpu::upgrade::Version> {
    static Gen<cgpu::upgrade::Version> arbitrary() {
        const auto part = gen::cast<std::uint16_t>(gen::inRange(0, 256));
        return gen::apply(
            [](std::uint16_t major, std::uint16_t minor, std::uint16_t patch) {
                return cgpu::upgrade::Version{major, minor, patch};
            },
            part, part, part);
    }
};

}  // namespace rc

namespace cgpu::upgrade {

/// As the shipped ones are, with one ABI and machine.
inline Manifest manifest_of(const Version& version, const Version& compatible_from) {
    return {version,
            kNewestEngineAbi,
            1,
            2,
            compatible_from,
            compatible_from,
            engine_name(version),
            std::string(64, 'a'),
            "x86_64"};
}

}  // namespace cgpu::upgrade
