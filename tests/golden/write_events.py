# Prints the messages that tests/train/report/event_file_test.cpp expects, without their times, as
# TensorBoard's own protobuf classes write them (pip install tensorboard).
from tensorboard.compat.proto import event_pb2, summary_pb2
from tensorboard.compat.tensorflow_stub.pywrap_tensorflow import masked_crc32c
from tensorboard.plugins.hparams import plugin_data_pb2
from tensorboard.compat.proto import tensor_pb2, types_pb2


def show(name, event):
    print(name, event.SerializeToString(deterministic=True).hex())


def value(step, **fields):
    return event_pb2.Event(step=step, summary=summary_pb2.Summary(value=[summary_pb2.Summary.Value(**fields)]))


print("crc of '123456789'", hex(masked_crc32c(b"123456789")))
show("version", event_pb2.Event(file_version="brain.Event:2"))
show("start", event_pb2.Event(step=301, session_log=event_pb2.SessionLog(status=event_pb2.SessionLog.START)))
show("scalar", value(300, tag="loss", simple_value=0.75))
text = summary_pb2.Summary.Value(
    tag="sample",
    tensor=tensor_pb2.TensorProto(dtype=types_pb2.DT_STRING, string_val=[b"    a\n    <b>"]),
    metadata=summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(plugin_name="text")))
show("text", event_pb2.Event(step=7, summary=summary_pb2.Summary(value=[text])))
# Values 1, 31 and 31 in 30 buckets of 1.
histogram = summary_pb2.HistogramProto(
    min=1.0, max=31.0, num=3.0, sum=63.0, sum_squares=1923.0,
    bucket_limit=[2.0 + i for i in range(30)],
    bucket=[1.0] + [0.0] * 28 + [2.0])
show("histogram", value(5, tag="h", histo=histogram))
info = plugin_data_pb2.SessionStartInfo()
info.hparams["lr"].string_value = "0.001"
data = plugin_data_pb2.HParamsPluginData(session_start_info=info)
settings = summary_pb2.Summary.Value(
    tag="_hparams_/session_start_info",
    tensor=tensor_pb2.TensorProto(dtype=types_pb2.DT_FLOAT, tensor_shape={}, float_val=[0.0]),
    metadata=summary_pb2.SummaryMetadata(plugin_data=summary_pb2.SummaryMetadata.PluginData(
        plugin_name="hparams", content=data.SerializeToString())))
show("settings", event_pb2.Event(summary=summary_pb2.Summary(value=[settings])))
