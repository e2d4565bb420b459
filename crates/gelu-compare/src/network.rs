//! File systems that show outdated content for a while.

use std::path::Path;

/// Returns whether a file lies on a network file system whose clients cache names and attributes, and ask the server
/// again only after a while: NFS, SMB, AFS, 9P, and everything behind FUSE. Cluster file systems (Lustre, GPFS,
/// CephFS) notify their clients of every change. If `path` does not exist, its nearest existing ancestor counts.
pub(crate) fn is_remembered(path: &Path) -> bool {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    path.ancestors().find_map(kind).is_some_and(remembers)
}

/// Returns Linux's number of the file system's type.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn kind(path: &Path) -> Option<u32> {
    // The field's width depends on the platform; the numbers have 32 bits.
    nix::sys::statfs::statfs(path).ok().map(|system| system.filesystem_type().0 as u32)
}

/// The numbers come from `linux/magic.h` and the sources of the modules.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn remembers(kind: u32) -> bool {
    const NFS: u32 = 0x6969;
    const SMB: [u32; 3] = [0x517b, 0xff53_4d42, 0xfe53_4d42];
    const AFS: [u32; 2] = [0x5346_414f, 0x6b41_4653];
    const CODA: u32 = 0x7375_7245;
    const PLAN_9: u32 = 0x0102_1997;
    const FUSE: u32 = 0x6573_5546;
    [NFS, CODA, PLAN_9, FUSE].contains(&kind) || SMB.contains(&kind) || AFS.contains(&kind)
}

#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd"))]
fn kind(path: &Path) -> Option<String> {
    let system = nix::sys::statfs::statfs(path).ok()?;
    Some(system.filesystem_type_name().to_owned())
}

#[cfg(any(target_vendor = "apple", target_os = "freebsd", target_os = "netbsd"))]
fn remembers(kind: String) -> bool {
    ["nfs", "smb", "afs", "9p", "webdav", "fuse", "macfuse", "osxfuse"]
        .iter()
        .any(|name| kind.starts_with(name))
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd"
)))]
fn kind(_path: &Path) -> Option<()> {
    None
}

#[cfg(not(any(
    target_os = "linux",
    target_os = "android",
    target_vendor = "apple",
    target_os = "freebsd",
    target_os = "netbsd"
)))]
fn remembers(_kind: ()) -> bool {
    false
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_folder_that_is_there_is_asked() {
        // /proc is on every Linux, and no disk has its type.
        const PROC: u32 = 0x9fa0;
        let missing = Path::new("/proc/self/none/at/all");
        assert_eq!(missing.ancestors().find_map(kind), Some(PROC));
        assert!(!is_remembered(missing));
        assert!(!is_remembered(Path::new("")));
    }

    #[test]
    fn kinds_are_those_of_the_kernels_sources() {
        // As in `stat -f` and linux/magic.h, and as the signed numbers of statfs(2).
        for remote in [0x6969_i64, 0xfe53_4d42, i64::from(0xff53_4d42_u32 as i32), 0x6573_5546] {
            assert!(remembers(remote as u32), "{remote:x}");
        }
        // ext4, XFS, btrfs, tmpfs, overlayfs, ZFS; Lustre, GPFS, CephFS.
        for local in [
            0xef53_u32,
            0x5846_5342,
            0x9123_683e,
            0x0102_1994,
            0x794c_7630,
            0x2fc1_2fc1,
            0x0bd0_0bd0,
            0x4750_4653,
            0x00c3_6400,
        ] {
            assert!(!remembers(local), "{local:x}");
        }
    }
}
