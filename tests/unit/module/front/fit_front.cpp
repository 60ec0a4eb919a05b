// usage: fit_front FRONT DRIVER OUT: the front as it is mounted over that driver.
#include "client/run/driver/front_image.hpp"

#include <fcntl.h>

#include <cstdio>
#include <fstream>

int main(int count, char** arguments) {
    if (count != 4) return 2;
    const cgpu::Descriptor driver(open(arguments[2], O_RDONLY | O_CLOEXEC));
    const auto fitted = cgpu::client::fit_front(arguments[1], driver, arguments[2]);
    if (!fitted) {
        std::fprintf(stderr, "%s\n", fitted.error().text.c_str());
        return 1;
    }
    std::ofstream out(arguments[3], std::ios::binary);
    const auto image = fitted->bytes();
    out.write(reinterpret_cast<const char*>(image.data()), static_cast<std::streamsize>(image.size()));
    return out.flush() ? 0 : 1;
}
