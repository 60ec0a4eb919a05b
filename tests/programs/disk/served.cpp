#include "tests/programs/disk/served.hpp"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <fcntl.h>
#include <algorithm>
#include <cerrno>
#include <string>

namespace programs::disk {
namespace {

/// Nothing is remembered by the kernel: a cut changes everything behind its back.
constexpr double kNotKept = 0;

Served& served(fuse_req_t request) { return *static_cast<Served*>(fuse_req_userdata(request)); }

void answer(fuse_req_t request, int error) { fuse_reply_err(request, error); }

struct stat described(Served& all, fuse_ino_t number) {
    struct stat its {};
    its.st_ino = number;
    its.st_blksize = 4096;
    if (number == Disk::kFolder) {
        its.st_mode = S_IFDIR | 0755;
        its.st_nlink = 2;
        return its;
    }
    const auto& file = all.disk.file(number);
    its.st_mode = S_IFREG | file.mode;
    its.st_nlink = all.disk.links(number);
    its.st_uid = file.owner;
    its.st_gid = file.group;
    its.st_size = static_cast<off_t>(file.seen.size());
    its.st_blocks = (its.st_size + 511) / 512;
    its.st_mtim = its.st_ctim = its.st_atim = file.changed;
    return its;
}

fuse_entry_param entry(Served& all, Disk::Number number) {
    fuse_entry_param found{};
    found.ino = number;
    found.attr = described(all, number);
    found.attr_timeout = found.entry_timeout = kNotKept;
    return found;
}

void look_up(fuse_req_t request, fuse_ino_t /*folder*/, const char* name) {
    auto& all = served(request);
    const auto number = all.disk.find(name);
    if (number == Disk::kNobody) return answer(request, ENOENT);
    const auto found = entry(all, number);
    fuse_reply_entry(request, &found);
}

void attributes(fuse_req_t request, fuse_ino_t number, fuse_file_info* /*open*/) {
    auto& all = served(request);
    if (number != Disk::kFolder && !all.disk.has(number)) return answer(request, ESTALE);
    const auto its = described(all, number);
    fuse_reply_attr(request, &its, kNotKept);
}

void set_attributes(fuse_req_t request, fuse_ino_t number, struct stat* wanted, int which,
                    fuse_file_info* open) {
    auto& all = served(request);
    if (all.hold(request)) return;
    if (number == Disk::kFolder) return answer(request, EPERM);
    if (!all.disk.has(number)) return answer(request, ESTALE);
    auto& file = all.disk.file(number);
    constexpr int kRights = FUSE_SET_ATTR_MODE | FUSE_SET_ATTR_UID | FUSE_SET_ATTR_GID;
    if ((which & kRights) != 0)
        if (const int error = all.disk.fault(Step::attributes)) return answer(request, error);
    if ((which & FUSE_SET_ATTR_SIZE) != 0)
        if (const int error = all.disk.set_length(number, static_cast<std::size_t>(wanted->st_size)))
            return answer(request, error);
    if ((which & FUSE_SET_ATTR_MODE) != 0) file.mode = wanted->st_mode & 07777U;
    if ((which & FUSE_SET_ATTR_UID) != 0) file.owner = wanted->st_uid;
    if ((which & FUSE_SET_ATTR_GID) != 0) file.group = wanted->st_gid;
    attributes(request, number, open);
}

void create(fuse_req_t request, fuse_ino_t /*folder*/, const char* name, mode_t mode, fuse_file_info* open) {
    auto& all = served(request);
    if (all.hold(request)) return;
    const auto* caller = fuse_req_ctx(request);
    if (const int error = all.disk.make(name, mode & 07777U, caller->uid, caller->gid))
        return answer(request, error);
    const auto made = entry(all, all.disk.find(name));
    fuse_reply_create(request, &made, open);
}

void open_file(fuse_req_t request, fuse_ino_t number, fuse_file_info* open) {
    if ((open->flags & O_ACCMODE) != O_RDONLY)
        if (const int error = served(request).disk.fault(Step::open)) return answer(request, error);
    if (number == Disk::kFolder) return answer(request, EISDIR);
    if (!served(request).disk.has(number)) return answer(request, ESTALE);
    fuse_reply_open(request, open);
}

void read_file(fuse_req_t request, fuse_ino_t number, std::size_t most, off_t place,
               fuse_file_info* /*open*/) {
    if (!served(request).disk.has(number)) return answer(request, ESTALE);
    const std::string& content = served(request).disk.file(number).seen;
    const auto begin = std::min(static_cast<std::size_t>(place), content.size());
    fuse_reply_buf(request, content.data() + begin, std::min(most, content.size() - begin));
}

void write_file(fuse_req_t request, fuse_ino_t number, const char* bytes, std::size_t size, off_t place,
                fuse_file_info* /*open*/) {
    auto& all = served(request);
    if (all.hold(request)) return;
    if (!all.disk.has(number)) return answer(request, ESTALE);
    std::size_t written = 0;
    if (const int error = all.disk.write(number, static_cast<std::size_t>(place), {bytes, size}, written))
        return answer(request, error);
    fuse_reply_write(request, written);
}

void sync_file(fuse_req_t request, fuse_ino_t number, int /*data_only*/, fuse_file_info* /*open*/) {
    auto& all = served(request);
    if (!all.hold(request)) answer(request, all.disk.has(number) ? all.disk.sync(number) : ESTALE);
}

void sync_names(fuse_req_t request, fuse_ino_t /*folder*/, int /*data_only*/, fuse_file_info* /*open*/) {
    auto& all = served(request);
    if (!all.hold(request)) answer(request, all.disk.sync_folder());
}

void remove(fuse_req_t request, fuse_ino_t /*folder*/, const char* name) {
    auto& all = served(request);
    if (!all.hold(request)) answer(request, all.disk.remove(name));
}

void rename(fuse_req_t request, fuse_ino_t /*from_folder*/, const char* from, fuse_ino_t /*to_folder*/,
            const char* to, unsigned flags) {
    auto& all = served(request);
    if (!all.hold(request)) answer(request, all.disk.rename(from, to, flags));
}

void list(fuse_req_t request, fuse_ino_t /*folder*/, std::size_t most, off_t place,
          fuse_file_info* /*open*/) {
    auto& all = served(request);
    std::string entries;
    std::size_t each = 0;
    for (const auto& [name, number] : all.disk.names()) {
        if (each++ < static_cast<std::size_t>(place)) continue;
        const auto its = described(all, number);
        const auto size = fuse_add_direntry(request, nullptr, 0, name.c_str(), nullptr, 0);
        if (entries.size() + size > most) break;
        entries.resize(entries.size() + size);
        fuse_add_direntry(request, entries.data() + entries.size() - size, size, name.c_str(), &its,
                          static_cast<off_t>(each));
    }
    fuse_reply_buf(request, entries.data(), entries.size());
}

void statistics(fuse_req_t request, fuse_ino_t /*number*/) {
    struct statvfs its {};
    its.f_bsize = its.f_frsize = 4096;
    its.f_blocks = its.f_files = 1U << 18U;
    its.f_bfree = its.f_bavail = its.f_ffree = served(request).disk.fault(Step::grow) != 0 ? 0 : 1U << 17U;
    its.f_namemax = 255;
    fuse_reply_statfs(request, &its);
}

}  // namespace

bool Served::hold(fuse_req_t request) {
    disk.count_step();
    if (holds_from == 0 || disk.steps() < holds_from) return false;
    held.push_back(request);
    return true;
}

const fuse_lowlevel_ops& operations() {
    static const fuse_lowlevel_ops all = [] {
        fuse_lowlevel_ops ops{};
        ops.lookup = look_up;
        ops.getattr = attributes;
        ops.setattr = set_attributes;
        ops.create = create;
        ops.open = open_file;
        ops.read = read_file;
        ops.write = write_file;
        ops.fsync = sync_file;
        ops.fsyncdir = sync_names;
        ops.unlink = remove;
        ops.rename = rename;
        ops.readdir = list;
        ops.statfs = statistics;
        return ops;
    }();
    return all;
}

}  // namespace programs::disk
