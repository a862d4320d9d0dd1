//! Turns what Neovim says into JSON and back, because `json!` reads best in a test.

use rmpv::Value as Pack;
use serde_json::{Map, Value as Json};

/// Buffers, windows and tab pages become their numbers; bytes that are not UTF-8 become U+FFFD.
pub(crate) fn from_pack(pack: &Pack) -> Json {
    match pack {
        Pack::Nil => Json::Null,
        Pack::Boolean(it) => Json::from(*it),
        Pack::Integer(it) => match it.as_u64() {
            Some(unsigned) => Json::from(unsigned),
            None => Json::from(it.as_i64()),
        },
        Pack::F32(it) => Json::from(*it),
        Pack::F64(it) => Json::from(*it),
        Pack::String(it) => Json::from(String::from_utf8_lossy(it.as_bytes())),
        Pack::Binary(it) => Json::from(String::from_utf8_lossy(it)),
        Pack::Array(items) => items.iter().map(from_pack).collect(),
        Pack::Map(pairs) => Json::Object(pairs.iter().map(pair_from_pack).collect::<Map<_, _>>()),
        Pack::Ext(_, bytes) => match rmpv::decode::read_value(&mut bytes.as_slice()) {
            Ok(handle) => from_pack(&handle),
            Err(_) => Json::Null,
        },
    }
}

/// The way back.
pub(crate) fn to_pack(json: &Json) -> Pack {
    match json {
        Json::Null => Pack::Nil,
        Json::Bool(it) => Pack::from(*it),
        Json::Number(it) => match (it.as_i64(), it.as_u64()) {
            (Some(signed), _) => Pack::from(signed),
            (None, Some(unsigned)) => Pack::from(unsigned),
            (None, None) => Pack::from(it.as_f64().unwrap()),
        },
        Json::String(it) => Pack::from(it.as_str()),
        Json::Array(items) => Pack::Array(items.iter().map(to_pack).collect()),
        Json::Object(pairs) => {
            Pack::Map(pairs.iter().map(|(k, v)| (Pack::from(k.as_str()), to_pack(v))).collect())
        }
    }
}

fn pair_from_pack((key, value): &(Pack, Pack)) -> (String, Json) {
    let key = match from_pack(key) {
        Json::String(text) => text,
        other => other.to_string(),
    };
    (key, from_pack(value))
}
