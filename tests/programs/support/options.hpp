#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace programs {

/// A flag or a value of Options, by which further rules for it are set. It refers to the Options that
/// returned it.
class Option {
  public:
    /// parse() refuses a command line without it.
    Option& required();
    /// It may not be given together with the other one.
    Option& excludes(const Option& other);
    /// It may be given only together with the other one.
    Option& needs(const Option& other);
    /// The value must be from `least` to `most`, both included.
    Option& range(unsigned long long least, unsigned long long most);
    /// The value must be more than 0.
    Option& positive();
    /// The value must be one of these.
    Option& one_of(const std::vector<std::string>& allowed);
    /// Sets what separates the values of a list that is given as one argument.
    Option& delimiter(char character);

  private:
    friend class Options;
    explicit Option(CLI::Option* option) : option_(option) {}

    CLI::Option* option_;
};

/// The command line of a test program. It is CLI11's, which costs seconds in each file that includes it;
/// therefore one file includes it for all the programs.
class Options {
  public:
    /// The description is what --help prints first.
    explicit Options(const std::string& description);
    Options(const Options&) = delete;
    Options& operator=(const Options&) = delete;
    ~Options();

    /// Each of these declares an option. parse() writes to the variable where the option is given, and leaves
    /// it alone otherwise; the variable must live until then. The integers are the fundamental types, so that
    /// std::size_t and the like are one of them on every system.
    Option flag(const std::string& name, bool& given, const std::string& help = "");
    Option value(const std::string& name, int& variable, const std::string& help = "");
    Option value(const std::string& name, unsigned int& variable, const std::string& help = "");
    Option value(const std::string& name, long& variable, const std::string& help = "");
    Option value(const std::string& name, unsigned long& variable, const std::string& help = "");
    Option value(const std::string& name, unsigned long long& variable, const std::string& help = "");
    Option value(const std::string& name, double& variable, const std::string& help = "");
    Option value(const std::string& name, std::string& variable, const std::string& help = "");
    Option value(const std::string& name, std::optional<unsigned int>& variable,
                 const std::string& help = "");
    Option value(const std::string& name, std::vector<int>& variable, const std::string& help = "");
    Option value(const std::string& name, std::vector<unsigned long long>& variable,
                 const std::string& help = "");
    Option value(const std::string& name, std::vector<std::string>& variable, const std::string& help = "");

    /// @return the program's exit status where it must not go on: --help was given, or the command line is
    /// wrong. In both cases the answer has been printed, on stdout or stderr.
    [[nodiscard]] std::optional<int> parse(int argc, char** argv);

  private:
    std::unique_ptr<CLI::App> app_;
};

}  // namespace programs
