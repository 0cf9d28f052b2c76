#!/usr/bin/env perl
# check.pl XML HTML: checks what Doxygen made of the headers, and prints how many declarations there
# are and what is documented of them. Required are
#   of whatever takes or returns tensors  their shapes
#   of operations and layers              formula, shapes, errors, source, and an example
#   of links                              that they lead somewhere
use strict;
use warnings;
use utf8;
use open qw(:std :utf8);
use File::Basename qw(basename dirname);
use lib dirname(__FILE__);
use Docs;

my ($xml, $html) = @ARGV;

# What operations and layers are not: bases and containers of layers.
my %no_layer = map { $_ => 1 } qw(Module ModuleList BlockStack RecurrentLayers AnyLayer OneOf Sequential);

my $tensor = qr/\b(?:Var|Tensor)\s*(?:&lt;|<)|\b(?:Tokens|Indices|ValidLens|Parameter)\b/;
my $shape = qr/\[[^\]]*\]|\bshapes?\b|\bscalar\b|\belements?\b|\brank\b/;
my %kinds = (
  formula => qr/<formula /,
  shapes => $shape,
  errors => qr/\b[Tt]hrows?\b/,
  source => qr/\(\w[^()]*?,? (?:et al\.,? )?\(?(?:19|20)\d\d|torch|NumPy|PyTorch|d2l\.ai|GPT-2/,
  example => qr/<programlisting/,
);

my %what_is_missing = (formula => 'a formula', shapes => 'shapes', errors => 'what it throws',
  source => 'a paper or a counterpart', example => 'an example');

my (%members, %classes, %count, @wanting);
$count{$_} = 0 for 'declarations', 'with tensors', keys %kinds;

sub text {
  my ($documentation) = @_;
  $documentation =~ s/<programlisting.*?<\/programlisting>/<programlisting\/>/gs;
  $documentation =~ s/<(?!formula |programlisting)[^>]*>//g;
  return $documentation;
}

sub field {
  my ($text, $name) = @_;
  return $text =~ /<$name>(.*?)<\/$name>/s ? $1 : '';
}

# A function or a variable: [kind, name, type and parameters, documentation, place].
sub read_member {
  my ($kind, $member) = @_;
  my $documentation = join ' ', map { text(field($member, "${_}description")) } qw(brief detailed);
  my ($file, $line) = $member =~ /<location file="([^"]*)" line="(\d+)"/;
  (my $signature = field($member, 'type') . ' ' . join ' ', $member =~ /<type>(.*?)<\/type>/gs) =~ s/<[^>]*>//g;
  return [$kind, field($member, 'name'), $signature, $documentation, ($file // '') . ':' . ($line // 0)];
}

for my $file (glob "$xml/{class,struct,group__,concept}*.xml") {
  my $content = join "\n", lines_of($file);
  my $is_class = basename($file) !~ /^group/;
  my ($name) = $is_class ? $content =~ /<compoundname>weft::(.*?)(?:&lt;.*)?<\/compoundname>/ : '';
  next if $content =~ /<compounddef [^>]*prot="private"/;
  my @members;
  while ($content =~ /<memberdef kind="(\w+)" id="[^"]*" prot="(public|protected)"(.*?)<\/memberdef>/gs) {
    push @members, read_member($1, $3);
  }
  $count{declarations} += @members + ($is_class ? 1 : 0);
  my $documentation = $is_class && $content =~ /.*<\/sectiondef>(.*)<\/compounddef>/s ? text($1)
    : $is_class ? text($content =~ s/<memberdef.*?<\/memberdef>//gsr) : '';
  unshift @members, @{ $classes{''}{members} // [] } if !$is_class;
  $classes{$name} = {
    documentation => $documentation,
    members => \@members,
    bases => [map { s/&lt;.*//r =~ s/^weft:://r } $content =~ /<basecompoundref[^>]*>(.*?)<\/basecompoundref>/g],
  };
}

sub is_layer {
  my ($name) = @_;
  my $class = $classes{$name} or return $name eq 'Module';
  return $name eq 'Module' || grep { is_layer($_) } @{ $class->{bases} };
}

# Of a layer, its functions and its bases.
sub all_documentation {
  my ($name) = @_;
  my $class = $no_layer{$name} && $name ne 'RecurrentLayers' && $name ne 'BlockStack' ? undef : $classes{$name};
  return '' if !$class;
  my @functions = grep { $_->[0] eq 'function' } @{ $class->{members} };
  return join ' ', $class->{documentation}, (map { $_->[3] } @functions),
    map { all_documentation($_) } @{ $class->{bases} };
}

# Checks what an operation or a layer is documented with.
sub check {
  my ($what, $place, $documentation, @required) = @_;
  ++$count{things};
  for my $kind (@required) {
    if ($documentation =~ $kinds{$kind}) {
      ++$count{$kind};
    } else {
      complain("$place: $what: expected $what_is_missing{$kind} in its comment, got none");
    }
  }
}

for my $name (sort keys %classes) {
  my $class = $classes{$name};
  for my $member (@{ $class->{members} }) {
    my ($kind, $member_name, $signature, $documentation, $place) = @$member;
    next if $kind ne 'function' || $signature !~ $tensor || $classes{"${name}::Tokens"} || $member_name =~ /^operator[^(]|^~/;
    ++$count{'with tensors'};
    complain("$place: $member_name: expected the shapes of tensors in its comment, got none")
      if "$documentation $class->{documentation}" !~ $shape;
  }
  if (is_layer($name) && !$no_layer{$name}) {
    check($name, 'layer', all_documentation($name), sort keys %kinds);
  }
}

# Operations: all functions of a name together. One of a single tensor and numbers need not throw.
my %operations;
for my $member (@{ $classes{''}{members} }) {
  my ($kind, $name, $signature, $documentation, $place) = @$member;
  next if $kind ne 'function' || $place !~ /autograd\/ops\// || $name =~ /^operator|^check_|^to_string|^no_grad/;
  my $operation = $operations{$name} //= { documentation => '', place => $place, throws => 0 };
  $operation->{documentation} .= $documentation;
  $operation->{throws} ||= ($signature =~ s/$tensor//gr) =~ /Index|Options|bool|string|initializer_list|span/ || (() = $signature =~ /$tensor/g) > 3;
}
for my $name (sort keys %operations) {
  my $operation = $operations{$name};
  check($name, $operation->{place}, $operation->{documentation},
    grep { $_ ne 'errors' || $operation->{throws} } sort keys %kinds);
}

# Links of the built pages.
my (%anchors, @links);
for my $page (glob "$html/*.html") {
  my $name = basename($page);
  my $content = join "\n", lines_of($page);
  $anchors{$name}{$_} = 1 for $content =~ /\b(?:id|name)="([^"]*)"/g;
  push @links, [$name, $_] for $content =~ /\b(?:href|src)="([^"]*)"/g;
}
my %is_checked;
for my $link (@links) {
  my ($page, $address) = @$link;
  next if $address =~ /^[a-z]+:/ || $is_checked{"$address|" . ($address =~ /^#/ ? $page : '')}++;
  my ($target, $anchor) = $address =~ /^([^#]*)(?:#(.*))?$/;
  $target = $page if !length $target;
  if (!-e "$html/$target") {
    complain("$page: no file $address");
  } elsif (defined $anchor && length $anchor && $anchors{$target} && !$anchors{$target}{$anchor}) {
    complain("$page: no place $address");
  }
}

my $things = $count{things};
print "$count{declarations} public declarations, all documented; $count{'with tensors'} take or return tensors, all with shapes\n";
print "$things operations and layers: ", join(', ', map { "$count{$_} with $_" } qw(formula shapes errors source example)), "\n";
print scalar(keys %is_checked), " different links, all of which lead somewhere\n" if !errors();
exit(errors() ? 1 : 0);
