#!/usr/bin/env perl
# pages.pl TREE FOLDER HTML FILE...: copies the Markdown pages among the files of TREE to FOLDER as
# Doxygen reads them, line by line. README.md is the main page; a page is below the first README.md
# that links to it, the guide's before others. Links to pages and headings become those of the built
# pages, code that is the name of a declaration in the headers among the files becomes a link to it,
# and other files that are linked are copied to HTML/tree.
use strict;
use warnings;
use utf8;
use open qw(:std :utf8);
use File::Basename qw(dirname);
use File::Copy qw(copy);
use File::Path qw(make_path);
use lib dirname(__FILE__);
use Docs;

my ($tree, $folder, $html, @files) = @ARGV;
my @pages = grep { /\.md$/ } @files;
read_names(map { "$tree/$_" } grep { /\.hpp$/ } @files);
my %anchors_of;    # of each page: the anchors of its headings
my %headings;      # of each page: the same in their order
my %is_page = map { $_ => 1 } @pages;
my %has_parent;    # pages that are in the tree

sub page_id {
  my ($page) = @_;
  return 'index' if $page eq 'README.md';
  $page =~ s/\.md$//;
  $page =~ s/[^A-Za-z0-9]+/-/g;
  return lc $page;
}

# A heading's anchor, as code hosts make it.
sub slug {
  my ($heading) = @_;
  $heading =~ s/\[([^\]]*)\]\([^)]*\)/$1/g;
  $heading = lc $heading;
  $heading =~ s/[^\p{L}\p{N} _-]//g;
  $heading =~ s/ /-/g;
  return $heading;
}

# "a/b/c" for "a/./x/../b/c".
sub normalized {
  my ($path) = @_;
  1 while $path =~ s{(^|/)\./}{$1} || $path =~ s{(^|/)[^/.][^/]*/\.\./}{$1};
  $path =~ s{/$}{};
  return $path;
}

# The parts of a page in their order: [number of the first line, is code, lines].
sub parts_of {
  my ($page) = @_;
  my ($number, $fence, @parts) = (0, '');
  for my $line (lines_of("$tree/$page")) {
    ++$number;
    my $is_code = length $fence;
    if ($line =~ /^\s*(```+)/ && ($1 eq $fence || !$fence)) {
      $fence = $fence ? '' : $1;
      $is_code = 1;
    }
    push @parts, [$number, $is_code] if !@parts || $parts[-1][1] != $is_code;
    push @{ $parts[-1] }, $line;
  }
  return @parts;
}

# The address of a link in the built pages.
sub address_of {
  my ($page, $number, $link) = @_;
  return $link if $link =~ /^[a-z]+:/;
  my ($path, $anchor) = $link =~ /^([^#]*)(?:#(.*))?$/;
  my $target = length $path ? normalized((dirname($page) eq '.' ? '' : dirname($page) . '/') . $path) : $page;
  $target .= '/README.md' if -d "$tree/$target" && $is_page{"$target/README.md"};
  if ($is_page{$target}) {
    complain("$page:$number: no heading $link") if defined $anchor && !$anchors_of{$target}{$anchor};
    return page_id($target) . '.html' . (defined $anchor ? '#' . page_id($target) . "--$anchor" : '');
  }
  if (!-e "$tree/$target") {
    complain("$page:$number: no file $link");
  } elsif (-f "$tree/$target") {
    make_path(dirname "$html/tree/$target");
    copy("$tree/$target", "$html/tree/$target") or die "$target: $!\n";
  } else {
    complain("$page:$number: no page about the folder $link");
  }
  return "tree/$target";
}

# Text outside of code blocks, whose first line is `number`.
sub convert {
  my ($page, $number, $text) = @_;
  my $is_index = $page =~ /(?:^|\/)README\.md$/;
  my @code;
  $text =~ s/^<!--.*-->$//mg;
  $text =~ s/`([^`]+)`/push @code, $1; "\x01$#code\x02"/ge;
  $text =~ s/([\\\@])/\\$1/g;
  $text =~ s{(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^()\s]+)\)}{
    my ($image, $label, $link) = ($1, $2, $3);
    $label =~ s/\x01(\d+)\x02/`$code[$1]`/g;    # no link within a link
    my $address = address_of($page, $number + substr($text, 0, $-[0]) =~ tr/\n//, $link);
    my ($id) = $address =~ /^([\w-]+)\.html$/;
    my $is_below = $is_index && $id && !$has_parent{$id} && $id ne page_id($page);
    $has_parent{$id} = 1 if $is_below;
    my $quoted = $label =~ s/"/”/gr;
    $image ? qq(<img src="$address" alt="$quoted"/>)
      : $is_below ? "\\subpage $id \"$quoted\""
      : qq(<a href="$address">$label</a>)
  }ge;
  $text =~ s!^(#+)\s+(.*?)\s*$!
    my ($level, $heading, $anchor) = ($1, $2, shift @{ $headings{$page} });
    $heading =~ s/\x01(\d+)\x02/$code[$1]/g;
    $heading =~ s/([<>&])/\\$1/g;
    # The tree of pages lists the sections of the main page, too, if they have labels.
    $page ne 'README.md' ? "$level $heading {#" . page_id($page) . ($level eq '#' ? '}' : "--$anchor}")
      : $level eq '#' ? "# $heading" : qq($level <a id="index--$anchor"></a>$heading)
  !gme;
  $text =~ s/\x01(\d+)\x02/code_span($code[$1], 0)/ge;
  return $text;
}

for my $page (@pages) {
  my %count;
  for my $part (parts_of($page)) {
    my (undef, $is_code, @lines) = @$part;
    for (grep { !$is_code && /^#/ } @lines) {
      my $slug = slug(s/^#+\s+//r);
      my $again = $count{$slug}++;
      $slug .= "-$again" if $again;
      $anchors_of{$page}{$slug} = 1;
      push @{ $headings{$page} }, $slug;
    }
  }
}
$has_parent{index} = 1;
for my $page (sort { ($b =~ /guide\/README/) <=> ($a =~ /guide\/README/) || $a cmp $b } @pages) {
  my @result;
  for my $part (parts_of($page)) {
    my ($number, $is_code, @lines) = @$part;
    $lines[0] =~ s/```console/```/ if $is_code;
    push @result, $is_code ? @lines : split /\n/, convert($page, $number, join("\n", @lines)), -1;
  }
  write_lines("$folder/" . ($page eq 'README.md' ? 'mainpage.md' : $page), @result);
}
exit(errors() ? 1 : 0);
