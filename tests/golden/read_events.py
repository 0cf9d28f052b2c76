# Prints what TensorBoard reads of the event files of a folder (pip install tensorboard):
#   python read_events.py build/gpt
import sys

from tensorboard.backend.event_processing import event_accumulator, plugin_event_accumulator
from tensorboard.plugins.hparams import metadata, plugin_data_pb2

events = event_accumulator.EventAccumulator(
    sys.argv[1], size_guidance={event_accumulator.IMAGES: 0, event_accumulator.HISTOGRAMS: 0}
).Reload()
for tag in events.Tags()["scalars"]:
    scalars = events.Scalars(tag)
    print(f"scalar {tag}: {len(scalars)} values, the last one {scalars[-1].value:g} at step {scalars[-1].step}")
for tag in events.Tags()["histograms"]:
    last = events.Histograms(tag)[-1]
    value = last.histogram_value
    print(f"histogram {tag}: {value.num:g} values in {value.min:g} ... {value.max:g} at step {last.step}")
for tag in events.Tags()["images"]:
    image = events.Images(tag)[-1]
    print(f"image {tag}: {image.width} x {image.height}, {len(image.encoded_image_string)} bytes")
plugins = plugin_event_accumulator.EventAccumulator(sys.argv[1]).Reload()
for tag in plugins.PluginTagToContent("text"):
    text = plugins.Tensors(tag)[-1].tensor_proto.string_val[0].decode()
    print(f"text {tag}: {text[:60]!r}")
for tag, content in plugins.PluginTagToContent(metadata.PLUGIN_NAME).items():
    data = plugin_data_pb2.HParamsPluginData.FromString(content)
    for name in sorted(data.session_start_info.hparams):
        print(f"hyperparameter {name}: {data.session_start_info.hparams[name].string_value[:60]!r}")
