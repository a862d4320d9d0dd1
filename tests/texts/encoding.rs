//! The bytes of a file, and its text.

use acp_nvim::changes::encoding::{Decoded, Encoding, NotText, decode, encode};
use proptest::prelude::*;

const UTF8: Encoding = Encoding::Utf8 { bom: false };
const BOM: Encoding = Encoding::Utf8 { bom: true };
/// What files may begin with.
const MARKS: &[&[u8]] = &[b"", b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];

#[test]
fn encodings_are_told_apart() {
    let cases: &[(&[u8], &str, Encoding)] = &[
        (b"", "", UTF8),
        (b"a\r\nb", "a\r\nb", UTF8),
        ("né 日本".as_bytes(), "né 日本", UTF8),
        (b"\xef\xbb\xbfa", "a", BOM),
        (b"\xef\xbb\xbf", "", BOM),
        (b"\xef\xbb\xbf\xef\xbb\xbfa", "\u{feff}a", BOM),
        (b"\xff\xfea\0\xe9\0", "aé", Encoding::Utf16Le),
        (b"\xfe\xff\0a\xd8\x3d\xdc\x4d", "a\u{1f44d}", Encoding::Utf16Be),
        (b"\xff\xfe", "", Encoding::Utf16Le),
        (b"n\xe9 \xff\x92", "né ÿ\u{92}", Encoding::Latin1),
        (b"\xef\xbb", "ï»", Encoding::Latin1),
    ];
    for (bytes, text, encoding) in cases {
        let decoded = Decoded { text: (*text).to_owned(), encoding: *encoding };
        assert_eq!(decode(bytes.to_vec()), Ok(decoded), "{bytes:?}");
        assert_eq!(encode(text, *encoding).as_deref(), Ok(*bytes));
    }
}

#[test]
fn what_is_no_text_is_told() {
    let cases: &[(&[u8], NotText)] = &[
        (b"a\0b", NotText::Binary),
        (b"\x7fELF\x02\x01\x01\xe9", NotText::Binary),
        (b"\x1f\x8b\x08\x04\x11\xe9\x02\x03", NotText::Binary),
        (b"\xff\xfea\0\0\0", NotText::Binary),
        (b"\xff\xfea", NotText::Utf16),
        (b"\xff\xfe\x3d\xd8a\0", NotText::Utf16),
        (b"\xef\xbb\xbfa\0", NotText::Binary),
        (b"n\xe9\0", NotText::Binary),
    ];
    for (bytes, error) in cases {
        assert_eq!(decode(bytes.to_vec()), Err(*error), "{bytes:?}");
    }
    // Colours and bells of a terminal are text, as long as they are UTF-8.
    assert!(decode(b"\x1b[1m\x07\x01\x02".to_vec()).is_ok());
}

#[test]
fn what_cannot_be_said_is_named() {
    let error = encode("fine\né\n1 \u{2192} 2", Encoding::Latin1).unwrap_err();
    assert_eq!(error.to_string(), "U+2192 in line 3 cannot be written in latin1");
    assert_eq!(encode("é", Encoding::Latin1), Ok(vec![0xe9]));
}

proptest! {
    #[test]
    fn any_bytes_that_are_text_come_back(
        start in prop::sample::select(MARKS),
        bytes in prop::collection::vec(
            prop_oneof![3 => 0x20u8..0x7f, 1 => any::<u8>(), 1 => Just(b'\n')],
            0..40,
        ),
    ) {
        let bytes = [start, &bytes].concat();
        if let Ok(Decoded { text, encoding }) = decode(bytes.clone()) {
            prop_assert_eq!(encode(&text, encoding), Ok(bytes));
        }
    }

    #[test]
    fn any_text_comes_back(text in "[a-zé日\u{1f44d}\u{feff}\r\n]{0,20}") {
        for encoding in [UTF8, BOM, Encoding::Utf16Le, Encoding::Utf16Be] {
            let decoded = decode(encode(&text, encoding).unwrap()).unwrap();
            // A text that begins with the mark can't be told from a text after one.
            if encoding != UTF8 || !text.starts_with('\u{feff}') {
                prop_assert_eq!(decoded, Decoded { text: text.clone(), encoding });
            }
        }
    }
}
