#include "tests/programs/support/options.hpp"

#include <CLI/CLI.hpp>

namespace programs {

Option& Option::required() {
    option_->required();
    return *this;
}

Option& Option::excludes(const Option& other) {
    option_->excludes(other.option_);
    return *this;
}

Option& Option::needs(const Option& other) {
    option_->needs(other.option_);
    return *this;
}

Option& Option::range(unsigned long long least, unsigned long long most) {
    option_->check(CLI::Range(least, most));
    return *this;
}

Option& Option::positive() {
    option_->check(CLI::PositiveNumber);
    return *this;
}

Option& Option::one_of(const std::vector<std::string>& allowed) {
    option_->check(CLI::IsMember(allowed));
    return *this;
}

Option& Option::delimiter(char character) {
    option_->delimiter(character);
    return *this;
}

Options::Options(const std::string& description) : app_(std::make_unique<CLI::App>(description)) {}

Options::~Options() = default;

Option Options::flag(const std::string& name, bool& given, const std::string& help) {
    return Option(app_->add_flag(name, given, help));
}

Option Options::value(const std::string& name, int& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, unsigned int& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, long& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, unsigned long& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, unsigned long long& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, double& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, std::string& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, std::optional<unsigned int>& variable,
                      const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, std::vector<int>& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, std::vector<unsigned long long>& variable,
                      const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

Option Options::value(const std::string& name, std::vector<std::string>& variable, const std::string& help) {
    return Option(app_->add_option(name, variable, help));
}

std::optional<int> Options::parse(int argc, char** argv) {
    // This is what the macro CLI11_PARSE does in a main().
    try {
        app_->parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app_->exit(error);
    }
    return std::nullopt;
}

}  // namespace programs
