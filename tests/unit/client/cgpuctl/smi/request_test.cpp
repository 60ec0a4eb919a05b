#include "client/cgpuctl/smi/request.hpp"

#include <set>

#include <gtest/gtest.h>

#include "client/cgpuctl/smi/fields.hpp"

namespace cgpu::cgpuctl::smi {
namespace {

using Words = std::vector<std::string>;
using What = Request::What;
using std::chrono::milliseconds;

Request read(const Words& words) {
    const auto request = read_request(words);
    if (!request) ADD_FAILURE() << request.error().text;
    return request.value_or(Request{});
}

std::string refused(const Words& words) {
    const auto request = read_request(words);
    if (request) {
        ADD_FAILURE() << "not refused";
        return "";
    }
    EXPECT_EQ(request.error().kind, client::ClientError::Kind::usage);
    EXPECT_NE(request.error().text.find(". Try: "), std::string::npos) << request.error().text;
    EXPECT_TRUE(request.error().text.starts_with("cgpu-smi ")) << request.error().text;
    return request.error().text;
}

TEST(SmiRequest, WithoutOptionsIsATable) {
    const auto request = read({});
    EXPECT_EQ(request.what, What::table);
    EXPECT_FALSE(request.every);
}

TEST(SmiRequest, LoopsByEachOfItsNames) {
    EXPECT_EQ(read({"-l", "5"}).every, milliseconds(5000));
    EXPECT_EQ(read({"--loop=5"}).every, milliseconds(5000));
    EXPECT_EQ(read({"-lms", "250"}).every, milliseconds(250));
    EXPECT_EQ(read({"--loop-ms", "250", "-c", "3"}).count, 3);
    EXPECT_NE(refused({"-l"}).find("value is missing"), std::string::npos);
    EXPECT_NE(refused({"-l", "soon"}).find("whole number"), std::string::npos);
    EXPECT_NE(refused({"-l", "0"}).find("1 to 86400"), std::string::npos);
    EXPECT_NE(refused({"-lms", "99"}).find("100 to"), std::string::npos);
    EXPECT_NE(refused({"-c", "3"}).find("add -l"), std::string::npos);
    refused({"-l", "1", "-c", "0"});
}

TEST(SmiRequest, AQueryHasFieldsAndAFormat) {
    const auto request = read({"--query-gpu=index, memory.used", "--format=csv,noheader,nounits"});
    EXPECT_EQ(request.what, What::query_gpu);
    EXPECT_EQ(request.fields, (Words{"index", "memory.used"}));
    EXPECT_FALSE(request.header);
    EXPECT_FALSE(request.units);
    const auto other = read({"--query-instance", "name", "--format", "csv"});
    EXPECT_EQ(other.what, What::query_instance);
    EXPECT_TRUE(other.header && other.units);
    EXPECT_NE(refused({"--query-gpu=index"}).find("add --format=csv"), std::string::npos);
    EXPECT_NE(refused({"--format=csv"}).find("queries only"), std::string::npos);
    EXPECT_NE(refused({"--query-gpu=index", "--format=xml"}).find("no such format"), std::string::npos);
    EXPECT_NE(refused({"--query-gpu=index", "--format=noheader"}).find("--format=csv,noheader"),
              std::string::npos);
}

TEST(SmiRequest, AnUnknownFieldIsRefusedWithTheLikelyOneAndAll) {
    const auto text = refused({"--query-gpu=memory.totl", "--format=csv"});
    EXPECT_NE(text.find("Try: use memory.total, or others of these: timestamp, index, "), std::string::npos)
        << text;
    EXPECT_NE(text.find("xid.last."), std::string::npos);
    EXPECT_NE(refused({"--query-instance=temperature", "--format=csv"}).find("use some of these: "),
              std::string::npos);
    EXPECT_NE(refused({"--query-gpu=", "--format=csv"}).find("no field \"\""), std::string::npos);
}

TEST(SmiRequest, OneOutputAtATime) {
    EXPECT_NE(refused({"--json", "--query-gpu=index", "--format=csv"}).find("combined with --json"),
              std::string::npos);
    refused({"--query-gpu=index", "--query-instance=name", "--format=csv"});
    EXPECT_NE(refused({"--jsno"}).find("no such option"), std::string::npos);
    EXPECT_NE(refused({"--json=yes"}).find("takes no value"), std::string::npos);
    EXPECT_NE(refused({""}).find("no such option"), std::string::npos);
}

template <class Row>
void expect_sound(std::span<const Field<Row>> fields) {
    std::set<std::string_view> names;
    for (const Field<Row>& field : fields) {
        EXPECT_TRUE(names.insert(field.name).second) << field.name;
        EXPECT_FALSE(field.help.empty()) << field.name;
    }
}

TEST(SmiFields, HaveANameOfTheirOwnAndHelp) {
    expect_sound(gpu_fields());
    expect_sound(instance_fields());
}

}  // namespace
}  // namespace cgpu::cgpuctl::smi
