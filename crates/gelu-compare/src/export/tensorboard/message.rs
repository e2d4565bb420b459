//! The messages of an event file that this program writes, with the field numbers of
//! tensorflow/core/util/event.proto, framework/summary.proto and tensorboard/plugins/hparams/plugin_data.proto.

use prost::{Message, Oneof};
use std::collections::BTreeMap;

#[derive(Clone, PartialEq, Message)]
pub(super) struct Event {
    /// Seconds since the run began.
    #[prost(double, tag = "1")]
    wall_time: f64,
    #[prost(int64, tag = "2")]
    step: i64,
    #[prost(oneof = "What", tags = "3, 5")]
    what: Option<What>,
}

#[derive(Clone, PartialEq, Oneof)]
enum What {
    #[prost(string, tag = "3")]
    FileVersion(String),
    #[prost(message, tag = "5")]
    Summary(Summary),
}

#[derive(Clone, PartialEq, Message)]
struct Summary {
    #[prost(message, repeated, tag = "1")]
    value: Vec<Value>,
}

#[derive(Clone, PartialEq, Message)]
struct Value {
    #[prost(string, tag = "1")]
    tag: String,
    #[prost(message, optional, tag = "9")]
    metadata: Option<Metadata>,
    #[prost(oneof = "Content", tags = "2, 8")]
    content: Option<Content>,
}

#[derive(Clone, PartialEq, Oneof)]
enum Content {
    #[prost(float, tag = "2")]
    Simple(f32),
    #[prost(message, tag = "8")]
    Tensor(TensorProto),
}

#[derive(Clone, PartialEq, Message)]
struct TensorProto {
    #[prost(int32, tag = "1")]
    dtype: i32,
    #[prost(message, optional, tag = "2")]
    shape: Option<Shape>,
}

#[derive(Clone, PartialEq, Message)]
struct Shape {}

#[derive(Clone, PartialEq, Message)]
struct Metadata {
    #[prost(message, optional, tag = "1")]
    plugin_data: Option<PluginData>,
}

#[derive(Clone, PartialEq, Message)]
struct PluginData {
    #[prost(string, tag = "1")]
    plugin_name: String,
    #[prost(bytes = "vec", tag = "2")]
    content: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
struct HyperparameterData {
    #[prost(int32, tag = "1")]
    version: i32,
    #[prost(message, optional, tag = "3")]
    session_start: Option<SessionStart>,
}

#[derive(Clone, PartialEq, Message)]
struct SessionStart {
    #[prost(btree_map = "string, message", tag = "1")]
    settings: BTreeMap<String, SettingValue>,
}

/// `google.protobuf.Value`.
#[derive(Clone, PartialEq, Message)]
struct SettingValue {
    #[prost(oneof = "Setting", tags = "2, 3")]
    kind: Option<Setting>,
}

/// A setting of a run.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Setting {
    #[prost(double, tag = "2")]
    Number(f64),
    #[prost(string, tag = "3")]
    Text(String),
}

/// `DT_FLOAT` of tensorflow/core/framework/types.proto.
const FLOAT: i32 = 1;

impl Event {
    /// Returns the event that every event file begins with.
    pub(super) fn version() -> Self {
        let what = Some(What::FileVersion("brain.Event:2".to_owned()));
        Self { wall_time: 0.0, step: 0, what }
    }

    /// Returns the event with the run's hyperparameters.
    pub(super) fn settings(settings: &[(String, Setting)]) -> Self {
        let settings = settings
            .iter()
            .map(|(name, setting)| (name.clone(), SettingValue { kind: Some(setting.clone()) }))
            .collect();
        let data =
            HyperparameterData { version: 0, session_start: Some(SessionStart { settings }) };
        let plugin_data =
            PluginData { plugin_name: "hparams".to_owned(), content: data.encode_to_vec() };
        // The plugin reads the metadata; the tensor only has to exist.
        let tensor = TensorProto { dtype: FLOAT, shape: Some(Shape {}) };
        let value = Value {
            tag: "_hparams_/session_start_info".to_owned(),
            metadata: Some(Metadata { plugin_data: Some(plugin_data) }),
            content: Some(Content::Tensor(tensor)),
        };
        let what = Some(What::Summary(Summary { value: vec![value] }));
        Self { wall_time: 0.0, step: 0, what }
    }

    /// Returns the event with measures of an epoch, `wall_time` seconds after the run began.
    pub(super) fn scalars(wall_time: f64, epoch: usize, scalars: &[(String, f64)]) -> Self {
        let value = scalars
            .iter()
            .map(|(tag, value)| Value {
                tag: tag.clone(),
                metadata: None,
                content: Some(Content::Simple(*value as f32)),
            })
            .collect();
        let what = Some(What::Summary(Summary { value }));
        Self { wall_time, step: epoch as i64, what }
    }

    pub(super) fn encoded(&self) -> Vec<u8> {
        self.encode_to_vec()
    }
}
