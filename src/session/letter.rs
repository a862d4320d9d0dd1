//! The letters that answer a permission. They are the same wherever its options are shown, and say
//! what an option does: small ones hold for once, capitals last.

use super::question::{PermissionKind, PermissionOption};

/// Keys that the window has for something else: motions, closing it, confirming, and what we offer
/// beside the options of the agent.
const RESERVED: &str = "aArRghjklqynpswGHJKLQYS";

/// The letter of each option, in the order of the options; none where there are more options than
/// letters.
pub fn of(options: &[PermissionOption]) -> Vec<Option<char>> {
    let mut used = String::new();
    let letter = |option| {
        let free = |it: &char| !RESERVED.contains(*it) && !used.contains(*it);
        let fixed = fixed(option).filter(|it| !used.contains(*it));
        let found = fixed.or_else(|| candidates(option).find(free));
        used.extend(found);
        found
    };
    options.iter().map(letter).collect()
}

/// What the first option of a kind has.
fn fixed(option: &PermissionOption) -> Option<char> {
    match option.kind {
        PermissionKind::AllowOnce => Some('a'),
        PermissionKind::AllowAlways => Some('A'),
        PermissionKind::RejectOnce => Some('r'),
        PermissionKind::RejectAlways => Some('R'),
        PermissionKind::Unknown => None,
    }
}

/// The letters of its words, then all others. What nobody knows the meaning of may last.
fn candidates(option: &PermissionOption) -> impl Iterator<Item = char> {
    let once = matches!(option.kind, PermissionKind::AllowOnce | PermissionKind::RejectOnce);
    let words = option.name.chars().take(100).filter(char::is_ascii_alphabetic);
    words.chain('a'..='z').map(move |it| match once {
        true => it.to_ascii_lowercase(),
        false => it.to_ascii_uppercase(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn letters(options: &[(PermissionKind, &str)]) -> String {
        let option = |(kind, name): &(PermissionKind, &str)| PermissionOption {
            id: (*name).to_owned(),
            name: (*name).to_owned(),
            kind: *kind,
        };
        let options: Vec<PermissionOption> = options.iter().map(option).collect();
        of(&options).into_iter().map(|it| it.unwrap_or('-')).collect()
    }

    #[test]
    fn an_option_has_the_letter_of_its_kind() {
        use PermissionKind::{AllowAlways, AllowOnce, RejectAlways, RejectOnce};
        let all = [
            (RejectAlways, "Never"),
            (AllowOnce, "Yes"),
            (AllowAlways, "Always"),
            (RejectOnce, "No"),
        ];
        assert_eq!(letters(&all), "RaAr");
    }

    #[test]
    fn further_options_have_letters_of_their_own() {
        use PermissionKind::{AllowAlways, AllowOnce, Unknown};
        let all = [
            (AllowOnce, "Allow"),
            (AllowOnce, "Allow in tests"),
            (AllowAlways, "Always"),
            (AllowAlways, "Always in this folder"),
            (Unknown, "Later"),
        ];
        assert_eq!(letters(&all), "aoAWT");
        assert_eq!(letters(&[(Unknown, "1"), (Unknown, "2")]), "BC");
    }

    #[test]
    fn no_letter_is_given_twice_or_has_another_meaning() {
        let many = vec![(PermissionKind::AllowOnce, "Allow"); 40];
        let given: Vec<char> = letters(&many).chars().filter(|it| *it != '-').collect();
        let mut unique = given.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), given.len());
        assert!(given.iter().skip(1).all(|it| !RESERVED.contains(*it)));
        assert!(given.iter().all(char::is_ascii_alphabetic));
    }
}
