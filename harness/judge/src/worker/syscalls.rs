//! System calls that no solution needs, and that reach other processes or what Landlock does not guard.
//!
//! A list of what is denied, not of what is allowed: the C library's needs change from one version to the
//! next, and a solution that is honest should not find out. Denied calls fail with `EPERM`, as they would
//! for want of a privilege.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, apply_filter_all_threads,
};

/// Whatever their arguments are.
const DENIED: &[libc::c_long] = &[
    // Other processes' memory and descriptors, this user's among them.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_pidfd_open,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    // A way around this filter: its operations are no system calls.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // The user's secrets.
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    // Another view of the file system, and what only comes with one.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_by_handle_at,
    // Doors of the kernel that have been forced before.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    // Memory and queues that outlive every process.
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    libc::SYS_mq_open,
    // Landlock guards what is in a file, not who may read it.
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    // Sockets by path and by UDP: a session bus, a container's daemon, the network.
    libc::SYS_socket,
];

/// The same under older names, which newer machines do not have.
#[cfg(target_arch = "x86_64")]
const DENIED_OLD: &[libc::c_long] = &[
    libc::SYS_chmod,
    libc::SYS_chown,
    libc::SYS_lchown,
    libc::SYS_utime,
    libc::SYS_utimes,
    libc::SYS_futimesat,
];
#[cfg(not(target_arch = "x86_64"))]
const DENIED_OLD: &[libc::c_long] = &[];

/// Calls whose first argument is a process: 0 is the caller.
const OF_OTHERS: [libc::c_long; 3] =
    [libc::SYS_prlimit64, libc::SYS_sched_setscheduler, libc::SYS_sched_setparam];

/// Denies them to this process and all its children, for good.
///
/// # Errors
///
/// Where the kernel has no filters, or none for this architecture exist.
pub fn deny() -> Result<(), Box<dyn std::error::Error>> {
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        DENIED.iter().chain(DENIED_OLD).map(|&call| (call, Vec::new())).collect();
    let is_not = |argument, value| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, value)
    };
    for call in OF_OTHERS {
        rules.insert(call, vec![SeccompRule::new(vec![is_not(0, 0)?])?]);
    }
    // `setpriority(which, who, …)`.
    rules.insert(libc::SYS_setpriority, vec![SeccompRule::new(vec![is_not(1, 0)?])?]);
    let filter: BpfProgram = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        std::env::consts::ARCH.try_into()?,
    )?
    .try_into()?;
    apply_filter_all_threads(&filter)?;
    Ok(())
}

/// Whether a call that is denied, and would change nothing, is.
pub fn are_denied() -> bool {
    // SAFETY: without a flag it unshares nothing (unshare(2)).
    unsafe { libc::syscall(libc::SYS_unshare, 0) == -1 }
}
