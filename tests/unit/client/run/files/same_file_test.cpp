#include "client/run/files/same_file.hpp"

#include <gtest/gtest.h>

namespace cgpu::client {
namespace {

using Places = std::vector<std::string>;

std::vector<Mount> mounts(const std::string& text) { return read_mounts(text); }

TEST(OtherPlaces, AreThoseOfTheSameFileSystemThatShowTheFile) {
    const auto table = mounts(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 8:1 /usr/lib /srv/jail rw - ext4 /dev/sda1 rw\n"
        "3 1 8:1 /usr/lib/x/libcuda.so.1 /srv/a\\040file rw - ext4 /dev/sda1 rw\n"
        "4 1 8:1 /usr/li /srv/no rw - ext4 /dev/sda1 rw\n"
        "5 1 8:1 /home /srv/home rw - ext4 /dev/sda1 rw\n"
        "6 1 8:2 /usr/lib /srv/other rw - ext4 /dev/sda2 rw\n"
        "7 1 8:1 / /mnt rw - ext4 /dev/sda1 rw\n"
        "8 1 8:1 /usr/lib /srv/jail rw - ext4 /dev/sda1 rw\n");
    EXPECT_EQ(other_places(table, 1, "/usr/lib/x/libcuda.so.1"),
              (Places{"/srv/jail/x/libcuda.so.1", "/srv/a file", "/mnt/usr/lib/x/libcuda.so.1"}));
    // From any of them.
    EXPECT_EQ(other_places(table, 2, "/srv/jail/x/libcuda.so.1"),
              (Places{"/usr/lib/x/libcuda.so.1", "/srv/a file", "/mnt/usr/lib/x/libcuda.so.1"}));
    EXPECT_EQ(other_places(table, 3, "/srv/a file"),
              (Places{"/usr/lib/x/libcuda.so.1", "/srv/jail/x/libcuda.so.1", "/mnt/usr/lib/x/libcuda.so.1"}));
    EXPECT_EQ(other_places(table, 2, "/usr/lib/x/libcuda.so.1"), Places{}) << "that mount isn't there";
    EXPECT_EQ(other_places(table, 9, "/usr/lib/x/libcuda.so.1"), Places{});
    EXPECT_EQ(other_places({}, 1, "/usr"), Places{});
}

TEST(OtherPlaces, AreNoneOfAFileThatWasRemoved) {
    const auto table = mounts(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 8:1 /usr/lib//deleted /srv/jail rw - ext4 /dev/sda1 rw\n");
    EXPECT_EQ(other_places(table, 1, "/usr/lib/libcuda.so.1"), Places{});
}

TEST(IsShownAt, TellsByTheUppermostMountOfThePath) {
    const auto table = mounts(
        "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
        "2 1 0:50 / /net rw - autofs systemd-1 rw\n"
        "3 1 8:1 /srv /data rw - ext4 /dev/sda1 rw\n"
        "4 1 0:60 / /var/c/merged rw - overlay overlay rw\n"
        "5 4 8:1 /srv/x /var/c/merged/opt/l rw - ext4 /dev/sda1 rw\n"
        "6 4 8:1 /usr/lib/libcuda.so.1 /var/c/merged/usr/lib/libcuda.so.1 rw - ext4 /dev/sda1 rw\n"
        "7 4 8:1 /net/server /var/c/merged/net/server rw - ext4 /dev/sda1 rw\n"
        "8 1 0:70 / /data rw - tmpfs tmpfs rw\n");
    // What NVIDIA's toolkit has bound into a container.
    EXPECT_TRUE(is_shown_at(table, 6, "/var/c/merged/usr/lib/libcuda.so.1", "/usr/lib/libcuda.so.1"));
    EXPECT_TRUE(is_shown_at(table, 1, "/usr/lib/libcuda.so.1", "/usr/lib/libcuda.so.1"));
    // A volume that has another path there, a file of the image, a path of another file.
    EXPECT_FALSE(is_shown_at(table, 5, "/var/c/merged/opt/l/libcuda.so.1", "/opt/l/libcuda.so.1"));
    EXPECT_TRUE(is_shown_at(table, 5, "/var/c/merged/opt/l/libcuda.so.1", "/srv/x/libcuda.so.1"));
    EXPECT_FALSE(is_shown_at(table, 4, "/var/c/merged/srv/x/queue", "/srv/x/queue"));
    EXPECT_FALSE(is_shown_at(table, 6, "/var/c/merged/usr/lib/libcuda.so.1", "/usr/lib/libcuda.so.2"));
    // A path on which the host would mount a server.
    EXPECT_FALSE(is_shown_at(table, 7, "/var/c/merged/net/server/libcuda.so.1", "/net/server/libcuda.so.1"));
    // Another mount lies over it.
    EXPECT_FALSE(is_shown_at(table, 5, "/var/c/merged/opt/l/libcuda.so.1", "/data/x/libcuda.so.1"));
    EXPECT_FALSE(is_shown_at(table, 99, "/a", "/a"));
    EXPECT_FALSE(is_shown_at({}, 1, "/a", "/a"));
}

}  // namespace
}  // namespace cgpu::client
