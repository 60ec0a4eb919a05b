#include "client/node/bus_errors.hpp"

#include <gtest/gtest.h>

namespace cgpu::client {
namespace {

int code_of(const char* name) { return exit_code(from_bus(name, "a text").kind); }

TEST(BusErrors, TheDaemonsOwnGiveTheDocumentedExitCodes) {
    EXPECT_EQ(code_of("org.cgpu1.Error.NotFound"), 3);
    for (const char* refused : {"Invalid", "Exists", "Busy", "NoSpace", "NoMemory", "Unsupported", "Storage"})
        EXPECT_EQ(code_of((std::string("org.cgpu1.Error.") + refused).c_str()), 4) << refused;
    EXPECT_EQ(code_of("org.cgpu1.Error.NotAuthorized"), 77);
    EXPECT_EQ(code_of("org.cgpu1.Error.Internal"), 1);
}

TEST(BusErrors, AnErrorOfALaterDaemonIsARefusal) { EXPECT_EQ(code_of("org.cgpu1.Error.NotThoughtOfYet"), 4); }

TEST(BusErrors, TheDaemonsTextIsKept) {
    EXPECT_EQ(from_bus("org.cgpu1.Error.Busy", "max_inst 2: taken. Try: 3.").text,
              "max_inst 2: taken. Try: 3.");
}

TEST(BusErrors, NobodyThereIsUnreachableAndSaysWhatToStart) {
    for (const char* name :
         {"org.freedesktop.DBus.Error.ServiceUnknown", "org.freedesktop.DBus.Error.NameHasNoOwner",
          "org.freedesktop.DBus.Error.NoReply", "org.freedesktop.DBus.Error.FileNotFound",
          "System.Error.ENOENT", "System.Error.ECONNREFUSED"}) {
        const ClientError error = from_bus(name, "a text");
        EXPECT_EQ(exit_code(error.kind), 101) << name;
        EXPECT_NE(error.text.find("Try: systemctl start cgpud"), std::string::npos) << name;
    }
}

TEST(BusErrors, TheBussPolicyForbidding) {
    EXPECT_EQ(code_of("org.freedesktop.DBus.Error.AccessDenied"), 77);
}

TEST(BusErrors, ABusThatIsFull) {
    const ClientError error = from_bus("org.freedesktop.DBus.Error.LimitsExceeded", "No buffer space");
    EXPECT_EQ(exit_code(error.kind), 1);
    EXPECT_NE(error.text.find("takes no more of this user"), std::string::npos) << error.text;
    EXPECT_TRUE(is_no_room("org.freedesktop.DBus.Error.LimitsExceeded"));
    EXPECT_FALSE(is_no_room("org.freedesktop.DBus.Error.AccessDenied"));
    EXPECT_FALSE(is_no_room("LimitsExceeded"));
}

TEST(BusErrors, AnObjectThatWent) { EXPECT_EQ(code_of("org.freedesktop.DBus.Error.UnknownObject"), 3); }

TEST(BusErrors, ADaemonOfAnotherVersion) {
    const ClientError error = from_bus("org.freedesktop.DBus.Error.UnknownMethod", "Unknown method Frob");
    EXPECT_EQ(exit_code(error.kind), 1);
    EXPECT_NE(error.text.find("Unknown method Frob"), std::string::npos);
}

TEST(BusErrors, TheOtherExitCodes) {
    EXPECT_EQ(exit_code(ClientError::Kind::usage), 2);
    EXPECT_EQ(exit_code(ClientError::Kind::bad_command), 126);
    EXPECT_EQ(exit_code(ClientError::Kind::no_command), 127);
}

}  // namespace
}  // namespace cgpu::client
