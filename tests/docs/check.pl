#!/usr/bin/env perl
# check.pl XML HTML: checks what Doxygen made of the headers, and prints how many declarations there
# are and how they are documented. Required are
#   of what takes or returns tensors  shapes
#   of operations and layers          formula, shapes, errors, source (or counterpart), example
#   of links                          that they lead somewhere
# Doxygen complains about most of what is not documented at all.
use strict;
use warnings;
use utf8;
use open qw(:std :utf8);
use File::Basename qw(basename dirname);
use lib dirname(__FILE__);
use Docs;

my ($xml, $html) = @ARGV;

my $tensor = qr/\b(?:Var|Tensor) ?(?:&lt;|<)|\b(?:Tokens|Indices|ValidLens|Parameter)\b/;
my $shape = qr/\[[^\]]*\]|\bshapes?\b|\bscalar\b|\belements?\b|\brank\b/;
my @required = (
  [shapes => $shape],
  [formula => qr/<formula /],
  [errors => qr/\b(?:throws?|errors)\b/i],
  [source => qr/\b(?:19|20)\d\d(?:[);]|, )|torch|NumPy|d2l\.ai/],
  [example => qr/<programlisting/],
);
# Modules that are no layers: bases and containers of layers.
my %is_no_layer = map { $_ => 1 }
  qw(Module ModuleList TrainableParameters BlockStack RecurrentLayers AnyLayer OneOf Sequential
     KerasModel);

my %classes;      # by name: documentation, functions, names of the bases
my %functions;    # of no class, by name: [documentation, signature, place] of each
my %declared;     # places of declarations: whether they are documented
my %count = ('with tensors' => 0, map { $_->[0] => 0 } @required);

sub documentation_in {
  my ($text) = @_;
  my $documentation = join ' ', $text =~ /<(?:brief|detailed)description>(.*?)<\/\w+description>/gs;
  $documentation =~ s/<programlisting.*?<\/programlisting>/<programlisting\/>/gs;
  return $documentation =~ s/<(?!formula |programlisting)[^>]*>//gr;
}

sub place_in {
  my ($text) = @_;
  return $text =~ /<location file="([^"]*)" line="(\d+)"/ ? "$1:$2" : '';
}

# Notes that something is declared; returns its documentation and its place.
sub declaration {
  my ($name, $text) = @_;
  my ($documentation, $place) = (documentation_in($text), place_in($text));
  $declared{"$place $name"} ||= $documentation =~ /\S/;
  return ($documentation, $place);
}

for my $file (glob "$xml/{class,struct,concept,group__}*.xml") {
  my $content = join "\n", lines_of($file);
  next if $content =~ /<compounddef [^>]*prot="private"/ || $content =~ /<compoundname>[^<]*&lt;/;
  my @functions;
  $content =~ s{<memberdef kind="(\w+)" [^>]*prot="(?:public|protected)"(.*?)</memberdef>}{
    my ($kind, $member) = ($1, $2);
    my ($name) = $member =~ /<name>(.*?)<\/name>/;
    my ($documentation, $place) = declaration($name, $member);
    my $signature = join(' ', $member =~ /<type>(.*?)<\/type>/gs) =~ s/<[^>]*>//gr;
    my %function = (name => $name, documentation => $documentation, signature => $signature,
                    place => $place);
    push @functions, \%function if $kind eq 'function';
    ''
  }gse;
  if (my ($name) = $content =~ /<compoundname>weft::(.*?)<\/compoundname>/) {
    my ($documentation) = declaration($name, $content);
    my @bases = map { s/&lt;.*//r =~ s/^weft:://r }
      $content =~ /<basecompoundref[^>]*>(.*?)<\/basecompoundref>/g;
    $classes{$name} = { documentation => $documentation, functions => \@functions, bases => \@bases };
  } else {
    push @{ $functions{ $_->{name} } }, $_ for @functions;
  }
}

sub check_shapes {
  my ($about, @functions) = @_;
  for my $function (@functions) {
    next if $function->{signature} !~ $tensor;
    ++$count{'with tensors'};
    complain("$function->{place}: $function->{name}: expected the shapes of tensors, got none")
      if "$about $function->{documentation}" !~ $shape;
  }
}

sub check_all {
  my ($name, $place, $documentation, $may_throw) = @_;
  ++$count{all};
  for (@required) {
    my ($kind, $pattern) = @$_;
    if ($documentation =~ $pattern) {
      ++$count{$kind};
    } elsif ($kind ne 'errors' || $may_throw) {
      complain("$place: $name: expected $kind in its comment, got none");
    }
  }
}

sub is_module {
  my ($name) = @_;
  return $name eq 'Module' || grep { is_module($_) } @{ $classes{$name}{bases} // [] };
}

# Of a layer, its functions and its bases.
sub all_documentation {
  my ($name) = @_;
  my $class = $classes{$name} // return '';
  return '' if $name eq 'Module';
  return join ' ', $class->{documentation}, map({ $_->{documentation} } @{ $class->{functions} }),
    map({ all_documentation($_) } @{ $class->{bases} });
}

for my $name (sort keys %classes) {
  my $class = $classes{$name};
  # A class may call something else Tokens.
  check_shapes($class->{documentation}, @{ $class->{functions} }) if !$classes{"${name}::Tokens"};
  check_all($name, 'layers', all_documentation($name), 1)
    if is_module($name) && !$is_no_layer{$name};
}
# The functions of one name are one operation. One of a tensor and numbers need not throw anything.
for my $name (sort keys %functions) {
  my @overloads = @{ $functions{$name} };
  check_shapes('', @overloads) if $name !~ /^operator/;
  next if $overloads[0]{place} !~ /\/ops\// || $name =~ /^(?:operator|check_|to_string|no_grad)/;
  my $may_throw = grep {
    my $tensors = () = $_->{signature} =~ /$tensor/g;    # the result included
    $tensors > 2 || $_->{signature} =~ /Index|Options|bool|string|initializer_list|span/
  } @overloads;
  my $documentation = join ' ', map { $_->{documentation} } @overloads;
  check_all($name, $overloads[0]{place}, $documentation, $may_throw);
}

# Links of the built pages.
my (%anchors, %links);
for my $path (glob "$html/*.html") {
  my $page = basename($path);
  my $content = join "\n", lines_of($path);
  $anchors{$page}{$_} = 1 for $content =~ /\b(?:id|name)="([^"]*)"/g;
  $links{ /^#/ ? "$page$_" : $_ } //= $page
    for grep { !/^[a-z]+:/ } $content =~ /\b(?:href|src)="([^"]*)"/g;
}
for my $link (sort keys %links) {
  my ($target, $anchor) = $link =~ /^([^#]*)(?:#(.+))?/;
  if (!-e "$html/$target") {
    complain("$links{$link}: no file $link");
  } elsif (defined $anchor && $anchors{$target} && !$anchors{$target}{$anchor}) {
    complain("$links{$link}: no place $link");
  }
}

my @undocumented = grep { !$declared{$_} } sort keys %declared;
complain("$_: expected a comment, got none") for @undocumented;
print scalar(keys %declared), " public declarations, ",
  keys(%declared) - @undocumented, " documented; ", "$count{'with tensors'} functions of tensors\n";
print "$count{all} operations and layers, with ",
  join(', ', map { "$_->[0] $count{$_->[0]}" } @required), "; the others cannot fail\n";
print scalar(keys %links), " links\n";
exit(errors() ? 1 : 0);
