"""What examples/transcribe.cpp does, in PyTorch."""
import torch
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence, pad_sequence
from torch.utils.data import DataLoader

torch.manual_seed(1)
FEATURES, SYMBOLS = 12, 10  # symbol 0 is CTC's blank
sounds = torch.randn(SYMBOLS, FEATURES)


def record(count):
    """Sequences of 2 to 6 symbols, each spoken for 2 to 5 time steps."""
    result = []
    for _ in range(count):
        labels = torch.randint(1, SYMBOLS, (int(torch.randint(2, 7, ())),))
        steps = labels.repeat_interleave(torch.randint(2, 6, labels.shape))
        result.append((sounds[steps] + 0.5 * torch.randn(len(steps), FEATURES), labels))
    return result


def collate(examples):
    features, labels = zip(*examples)
    return (pad_sequence(features, batch_first=True), torch.tensor([len(x) for x in features]),
            pad_sequence(labels, batch_first=True), torch.tensor([len(y) for y in labels]))


training = DataLoader(record(2000), batch_size=32, shuffle=True, collate_fn=collate)
held_out = DataLoader(record(200), batch_size=32, collate_fn=collate)


class Transcriber(nn.Module):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(FEATURES, 48, batch_first=True, bidirectional=True)
        self.output = nn.Linear(96, SYMBOLS)

    def forward(self, x, lengths):
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        states, _ = pad_packed_sequence(self.gru(packed)[0], batch_first=True)
        return self.output(states).log_softmax(-1)


def loss_of(x, lengths, labels, label_lengths):
    return nn.functional.ctc_loss(model(x, lengths).transpose(0, 1), labels, lengths, label_lengths)


def transcript(log_probs):
    best = log_probs.argmax(-1).unique_consecutive()
    return best[best != 0]


model = Transcriber()
optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
for epoch in range(5):
    for batch in training:
        optimizer.zero_grad()
        loss = loss_of(*batch)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    with torch.no_grad():
        losses = [(loss_of(*batch), len(batch[0])) for batch in held_out]
    print(f"epoch {epoch + 1}: loss {loss:.4f}, validation loss "
          f"{sum(loss * n for loss, n in losses) / sum(n for _, n in losses):.4f}")

correct = 0
with torch.no_grad():
    for x, lengths, labels, label_lengths in held_out:
        for row, time, label, n in zip(model(x, lengths), lengths, labels, label_lengths):
            correct += torch.equal(transcript(row[:time]), label[:n])
print(f"{correct} of 200 transcripts are correct")
