#include "client/cgpuctl/docker/engine/docker_start.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <sstream>
#include <vector>

#include "client/cgpuctl/docker/engine/engine_file.hpp"
#include "core/model/trimmed.hpp"

namespace cgpu::cgpuctl {
namespace {

/// Divides at blanks outside quotes, and takes the quotes away.
std::vector<std::string> words_in(std::string_view text) {
    std::vector<std::string> words;
    bool in_word = false;
    char quote = 0;
    for (const char mark : text) {
        const bool is_blank = mark == ' ' || mark == '\t';
        if (quote == 0 && is_blank) {
            in_word = false;
            continue;
        }
        if (!in_word) words.emplace_back();
        in_word = true;
        if (quote == 0 && (mark == '"' || mark == '\''))
            quote = mark;
        else if (mark == quote)
            quote = 0;
        else
            words.back() += mark;
    }
    return words;
}

using Variables = std::map<std::string, std::string>;

void add_variable(Variables& variables, std::string_view word) {
    const auto equals = word.find('=');
    if (equals != std::string_view::npos)
        variables[std::string(word.substr(0, equals))] = word.substr(equals + 1);
}

/// Lines `NAME=VALUE`, the value perhaps in quotes.
void add_file(Variables& variables, const std::string& text) {
    std::istringstream lines(text);
    for (std::string raw; std::getline(lines, raw);) {
        std::string_view line = model::trimmed(raw);
        const auto equals = line.find('=');
        if (line.empty() || line.front() == '#' || line.front() == ';' || equals == std::string_view::npos)
            continue;
        std::string_view value = model::trimmed(line.substr(equals + 1));
        if (value.size() > 1 && (value.front() == '"' || value.front() == '\'') &&
            value.back() == value.front())
            value = value.substr(1, value.size() - 2);
        variables[std::string(model::trimmed(line.substr(0, equals)))] = value;
    }
}

/// The variable that a word is as a whole: `$NAME` or `${NAME}`. Empty: it is none.
std::string variable_in(std::string_view word) {
    if (word.size() < 2 || word.front() != '$') return {};
    if (word[1] == '{' && word.back() == '}') return std::string(word.substr(2, word.size() - 3));
    return std::string(word.substr(1));
}

std::string text_or_nothing(const std::string& file) {
    return read_engine_file(file).value_or(std::string());
}

}  // namespace

DockerFlags flags_of_unit(std::string_view shown, std::string (*read)(const std::string& file)) {
    constexpr std::string_view kCommand = "ExecStart=";
    constexpr std::string_view kWords = "argv[]=";
    constexpr std::string_view kVariables = "Environment=";
    constexpr std::string_view kFiles = "EnvironmentFiles=";
    std::string command;
    Variables variables;
    std::vector<std::string> files;
    std::istringstream lines{std::string(shown)};
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with(kVariables)) {
            for (const std::string& word : words_in(std::string_view(line).substr(kVariables.size())))
                add_variable(variables, word);
        } else if (line.starts_with(kFiles)) {
            std::string file = line.substr(kFiles.size());
            files.push_back(file.substr(0, file.find(" (ignore_errors")));
        } else if (const auto words = line.find(kWords);
                   line.starts_with(kCommand) && words != std::string::npos) {
            command = line.substr(words + kWords.size());
            command.erase(std::min(command.find(" ; "), command.size()));
        }
    }
    for (const std::string& file : files) add_file(variables, read(file));
    std::vector<std::string> words;
    for (const std::string& word : words_in(command)) {
        const std::string name = variable_in(word);
        if (name.empty()) {
            words.push_back(word);
        } else if (const auto found = variables.find(name); found != variables.end()) {
            for (std::string& part : words_in(found->second)) words.push_back(std::move(part));
        }
    }
    return docker_flags(words);
}

std::optional<DockerStart> docker_service() {
    std::FILE* pipe = popen(
        "systemctl show docker.service --property LoadState,ExecStart,Environment,EnvironmentFiles "
        "2>/dev/null",
        "re");
    if (pipe == nullptr) return std::nullopt;
    std::string shown;
    std::array<char, 4096> part{};
    for (std::size_t n = 0; (n = std::fread(part.data(), 1, part.size(), pipe)) > 0;)
        shown.append(part.data(), n);
    if (pclose(pipe) != 0 || shown.find("LoadState=loaded\n") == std::string::npos) return std::nullopt;
    return DockerStart{"docker.service", "systemctl edit docker", flags_of_unit(shown, &text_or_nothing)};
}

}  // namespace cgpu::cgpuctl
