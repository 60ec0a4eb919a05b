#include "client/fs/operations.hpp"

#include <sys/stat.h>

#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>

namespace cgpu::fs {
namespace {

/// No honest text is longer.
constexpr std::size_t kLongestOrder = 4096;

Served& served() { return *static_cast<Served*>(fuse_get_context()->private_data); }

void say(const char* path, const std::string& why) {
    std::fprintf(stderr, "%s: %s\n", path + 1, why.c_str());
}

/// A place, and the snapshot that it points into.
struct Found {
    NodeView::Shared node;
    Place place;
};

tl::expected<Found, int> find(const char* path, const client::Result<NodeView::Shared>& node) {
    if (node) {
        const auto place = find_place(**node, path);
        if (!place) return tl::unexpected(place.error());
        return Found{*node, *place};
    }
    // Without cgpud there are the files at the top.
    static const auto nothing = std::make_shared<const client::Snapshot>();
    const auto place = find_place(*nothing, path);
    if (!place) return tl::unexpected(EIO);
    return Found{nothing, *place};
}

int get_attributes(const char* path, struct stat* info, fuse_file_info*) {
    const auto found = find(path, served().view.recent());
    if (!found) return -found.error();
    if (found->place.instance != nullptr) served().sweeper.looked_up(path);
    *info = {};
    const ControlFile* file = found->place.file;
    info->st_mode = file == nullptr ? S_IFDIR | 0555 : S_IFREG | file->mode;
    info->st_nlink = file == nullptr ? 2 : 1;
    info->st_atim = info->st_mtim = info->st_ctim = served().mounted;
    return 0;
}

int read_folder(const char* path, void* buffer, fuse_fill_dir_t fill, off_t, fuse_file_info*,
                fuse_readdir_flags) {
    const auto found = find(path, served().view.recent());
    if (!found) return -found.error();
    if (found->place.file != nullptr) return -ENOTDIR;
    fill(buffer, ".", nullptr, 0, fuse_fill_dir_flags{});
    fill(buffer, "..", nullptr, 0, fuse_fill_dir_flags{});
    for (const std::string& name : names_in(*found->node, found->place))
        fill(buffer, name.c_str(), nullptr, 0, fuse_fill_dir_flags{});
    return 0;
}

/// libfuse keeps a number for each open file: here it is the address of the file's text, 0 if there is none.
std::string* text_in(const fuse_file_info& file) { return std::bit_cast<std::string*>(file.fh); }

/// What a file says when it is opened is what all reads through this descriptor give.
int open_file(const char* path, fuse_file_info* file) {
    const bool reads = (file->flags & O_ACCMODE) != O_WRONLY;
    NodeView& view = served().view;
    const bool is_root = fuse_get_context()->uid == 0;
    const auto node = !reads ? view.recent() : is_root ? view.now() : view.now_for_others();
    if (!node) {
        say(path, node.error().text);
        return -EIO;
    }
    const auto found = find(path, node);
    if (!found) return -found.error();
    file->direct_io = 1;  // sizes aren't known before a file is read
    if (!reads) return 0;
    auto text = text_of(*found->node, found->place, served().major);
    if (text) file->fh = std::bit_cast<std::uint64_t>(new std::string(std::move(*text)));
    // A file that can't be read says so when it is read.
    else if (text.error() != EBADF)
        return -text.error();
    return 0;
}

int read_file(const char*, char* buffer, std::size_t size, off_t offset, fuse_file_info* file) {
    const std::string* text = text_in(*file);
    if (text == nullptr) return -EBADF;
    if (offset < 0 || static_cast<std::size_t>(offset) >= text->size()) return 0;
    return static_cast<int>(text->copy(buffer, size, static_cast<std::size_t>(offset)));
}

/// Each write is an order of its own, as in /proc: its result is the write's result.
int write_file(const char* path, const char* text, std::size_t size, off_t, fuse_file_info*) {
    if (size > kLongestOrder) return -EINVAL;
    const auto node = served().view.now();
    if (!node) {
        say(path, node.error().text);
        return -EIO;
    }
    const auto found = find(path, node);
    if (!found) return -found.error();
    const auto order = read_order(*found->node, found->place, {text, size});
    if (!order) return -order.error();
    if (const auto done = served().view.change(*order); !done) {
        say(path, done.error().text);
        return -errno_of(done.error());
    }
    return static_cast<int>(size);
}

int close_file(const char*, fuse_file_info* file) {
    delete text_in(*file);
    return 0;
}

/// What `>` of a shell does before it writes.
int truncate_file(const char* path, off_t, fuse_file_info*) {
    const auto found = find(path, served().view.recent());
    if (!found) return -found.error();
    if (found->place.file == nullptr) return -EISDIR;
    return (found->place.file->mode & S_IWUSR) != 0 ? 0 : -EACCES;
}

void* begin(fuse_conn_info*, fuse_config* config) {
    config->entry_timeout = config->attr_timeout = config->negative_timeout = 0;
    return fuse_get_context()->private_data;
}

fuse_operations make_operations() {
    fuse_operations all{};
    all.init = begin;
    all.getattr = get_attributes;
    all.readdir = read_folder;
    all.open = open_file;
    all.read = read_file;
    all.write = write_file;
    all.release = close_file;
    all.truncate = truncate_file;
    // Nobody makes, removes or changes a file. (Without these, the error would be "not implemented".)
    all.mkdir = [](const char*, mode_t) { return -EPERM; };
    all.mknod = [](const char*, mode_t, dev_t) { return -EPERM; };
    all.unlink = [](const char*) { return -EPERM; };
    all.rmdir = [](const char*) { return -EPERM; };
    all.rename = [](const char*, const char*, unsigned) { return -EPERM; };
    all.symlink = [](const char*, const char*) { return -EPERM; };
    all.link = [](const char*, const char*) { return -EPERM; };
    all.chmod = [](const char*, mode_t, fuse_file_info*) { return -EPERM; };
    all.chown = [](const char*, uid_t, gid_t, fuse_file_info*) { return -EPERM; };
    all.utimens = [](const char*, const timespec*, fuse_file_info*) { return -EPERM; };
    return all;
}

}  // namespace

const fuse_operations& operations() {
    static const fuse_operations all = make_operations();
    return all;
}

}  // namespace cgpu::fs
