//! Who was started by whom, from `/proc`.

use std::fs;

/// The command lines of all living descendants of a process.
pub fn descendants(process: u32) -> Vec<String> {
    family(process).into_iter().map(|(_, line)| line).collect()
}

/// The same, each with its process's number.
pub fn family(process: u32) -> Vec<(u32, String)> {
    let mut parents: Vec<(u32, u32)> = Vec::new();
    for entry in fs::read_dir("/proc").expect("/proc").flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
            continue;
        };
        // "1234 (name) S 1200 …": the name may hold anything, so read from its end.
        let stat = fs::read_to_string(entry.path().join("stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
        parents.extend(parent.map(|parent| (id, parent)));
    }
    let mut family = vec![process];
    let mut at = 0;
    while at < family.len() {
        let own = family[at];
        family.extend(parents.iter().filter(|(_, parent)| *parent == own).map(|(id, _)| id));
        at += 1;
    }
    family[1..]
        .iter()
        .filter_map(|id| Some((*id, fs::read(format!("/proc/{id}/cmdline")).ok()?)))
        .map(|(id, line)| (id, String::from_utf8_lossy(&line).replace('\0', " ")))
        .collect()
}
