#!/usr/bin/env perl
# headers.pl TREE FOLDER HEADER...: copies public headers of TREE to FOLDER/weft as Doxygen reads
# them, line by line, with the groups of groups.txt in FOLDER/groups.dox.
# headers.pl --examples TREE HEADER...: prints the examples in the headers as C++ functions, to be
# compiled after examples.hpp.
#
# A comment documents the declaration below it, or in front of it in the same line. Functions of one
# name that follow each other without a blank line share the comment of the first. In a comment,
#   `y = x²`                                    is a formula (`y` alone is code)
#   lines that are indented by two more spaces  are an example if the last one ends with ';' or is
#                                               '}', and a formula otherwise
# The comment at the top of a file describes its functions on the page of their group.
use strict;
use warnings;
use utf8;
use open qw(:std :utf8);
use File::Basename qw(dirname);
use lib dirname(__FILE__);
use Docs;
use Formula;

my $print_examples = $ARGV[0] eq '--examples' && shift;
my $tree = shift;
my $folder = $print_examples ? '' : shift;
my @headers = @ARGV;
my $examples = 0;

# An example as a function, or, where it declares templates or types, in a namespace.
sub print_example {
  my ($header, $number, @code) = @_;
  my $has_declarations = grep { /^(?:template|struct)\b/ } @code;
  printf "%s example_%d%s {\n#line %d \"%s\"\n%s\n}\n", $has_declarations ? 'namespace' : 'void',
    ++$examples, $has_declarations ? '' : '()', $number, $header, join("\n", @code);
}

# The lines of a comment as Doxygen's; `number` is that of the first in the header.
sub documentation {
  my ($header, $number, @comment) = @_;
  my @result;
  my $in_list = 0;
  while (@comment) {
    my $line = shift @comment;
    if ($in_list || $line !~ /^  /) {
      my @text = ($line);
      push @text, shift @comment while @comment && $comment[0] =~ /^\S/;
      push @result, split /\n/, escaped(join "\n", @text), -1;
      $in_list = $text[-1] =~ /^- / || ($in_list && @text == 1);
      next;
    }
    my @block = ($line);
    push @block, shift @comment while @comment && $comment[0] =~ /^  /;
    s/^  // for @block;
    (my $end = $block[-1]) =~ s/\s+\/\/ .*//;
    if ($end =~ /;$|^\s*\}$/) {
      print_example($header, $number + @result, @block) if $print_examples;
      # What ends a command takes a space; the other lines have one, too.
      $block[0] = "\\code{.cpp}\\ilinebr " . join "\n ", @block;
      @block = split /\n/, $block[0], -1;
      $block[-1] .= '\ilinebr \endcode';
    } else {
      $result[-1] =~ s/,?$/:/ if @result && $result[-1] =~ /[\w,]$/;
      @block = map { to_tex($_) } @block;
      $block[$_] .= ' \\\\' for 0 .. $#block - 1;
      $block[0] = "\\f[\\begin{gathered}$block[0]";
      $block[-1] .= '\end{gathered}\f]';
    }
    push @result, @block;
  }
  return @result;
}

# The documentation of declarations without a comment whose form says what they are; undef for
# others.
sub usual_documentation {
  my ($declaration, $header) = @_;
  return "Not copyable." if $declaration =~ /^\s*(\w+)\(const \1&\) = delete$/;
  return '\\private' if $declaration =~ /\boverride$|= (?:default|delete)$|^\s*(?:virtual )?~|\boperator=\(/
    || $declaration =~ /^\s*(\w+)\((?:const \1&|\1&&)/;
  return "The name of each value of $1." if $declaration =~ /\bEnumNames<(\w+)/;
  return "The name of a value of $1. Throws ValueError for any other value."
    if $declaration =~ /\bto_string\((\w+) /;
  return "Options of " . (declared($1) // return) . '.' if $declaration =~ /^\s*struct (?:WEFT_API )?(\w+)Options\s*$/;
  return;
}

# What a brace opens after a declaration: a scope whose declarations are documented, or code.
sub scope_after {
  my ($declaration) = @_;
  $declaration =~ s/^\s*template\s*(<(?:[^<>]++|(?1))*>)//;
  return $declaration =~ /^\s*enum\b/ ? 'enum'
    : $declaration =~ /^\s*namespace\b/ ? 'namespace'
    : $declaration =~ /^\s*(?:class|struct|union)\b/ ? 'class' : 'code';
}

sub function_name {
  my ($declaration) = @_;
  $declaration =~ s/^\s*template\s*(<(?:[^<>]++|(?1))*>)\s*(?:requires \w+(<(?:[^<>]++|(?2))*>))?//;
  return $declaration =~ /(operator\s*\S+?|\w+)\s*\(/ ? $1 : '';
}

# A line that declares several variables as several declarations, the later ones with the text.
sub separated {
  my ($line, $text) = @_;
  $line =~ s!^(\s*)([\w:]+(<(?:[^<>]++|(?3))*>)?) (\w+(?: = [^,;()]+)?(?:, \w+(?: = [^,;()]+)?)+);!
    my ($indent, $type, @variables) = ($1, $2, split /, /, $4);
    $indent . join(" /** $text */ ", map { "$type $_;" } @variables)
  !e;
  return $line;
}

sub convert {
  my ($header, $group) = @_;
  my @lines = lines_of("$tree/$header");
  my @top;
  push @top, $1 while $lines[@top] =~ m{^// ?(.*)};
  # The first sentence is the title.
  my ($title, $about) = split /(?<=\.)(?:\s|$)/, join("\n", @top), 2;
  $title =~ s/\s+/ /g;
  $title =~ s/[.`]//g;
  $about = join '\ilinebr ', documentation($header, 1 + @top - split(/\n/, $about // ''), split /\n/, $about // '');

  my @result = map { "// $_" } @top;
  my @scopes;         # of the enclosing braces, outermost first
  my @private;        # whether they are private now
  my $declaration;    # the declaration that is being read, without bodies
  my $first;          # its first line
  my $closed = 0;     # whether its last body may have been its end
  my @comment;        # the lines just read
  my @documentation;  # that of the declaration, or of the one above, which had this name:
  my $name = '';

  my $end = sub {
    my $own_name = function_name($declaration);
    my $is_new = @documentation && $documentation[0] eq "\0";
    shift @documentation if $is_new;
    my $text = join '\ilinebr ', @documentation;
    if (grep { $_ } @private) {
      @documentation = ();
    } elsif ($declaration =~ /^\s*friend\b|^inline \w+::/) {
      $result[$_] = '' for $first - ($is_new ? @documentation : 0) .. $#result;
      @documentation = ();
    } elsif ($is_new) {
      $name = $own_name;
      $result[$first] = separated($result[$first], $text);
    } elsif (defined(my $usual = usual_documentation($declaration))) {
      $result[$first] = "/** $usual */ $result[$first]";
    } elsif (length $name && $own_name eq $name) {
      $result[$first] = "/** $text */ $result[$first]";
    } else {
      @documentation = ();
      $name = '';
    }
    undef $declaration;
    $closed = 0;
  };

  for my $i (scalar @top .. $#lines) {
    my $line = $lines[$i];
    my $is_code = grep { $_ eq 'code' } @scopes;
    my ($outer) = grep { $private[$_] } 0 .. $#private;
    $end->() if $closed && !$is_code && $line !~ /^\s*[;,){(]/;
    push @result, $line;
    next if $line =~ /^\s*#/;
    if (!$is_code && !defined $declaration) {
      if ($line =~ m{^\s*// ?(.*)}) {
        push @comment, $1;
        next;
      }
      if ($line !~ /\S/ || $line =~ /^ *(?:public|private|protected):/) {
        $private[-1] = $line =~ /private/ if $line =~ /\S/;
        @comment = ();
        $name = '';
        next;
      }
      if ($line =~ /^extern template/) {
        $result[$i] = '';
        next;
      }
      if (@comment) {
        @documentation = documentation($header, $i + 1 - @comment, @comment);
        $result[$i - @comment + $_] = "/// $documentation[$_]" for 0 .. $#documentation;
        unshift @documentation, "\0";
        @comment = ();
      }
    }
    (my $code = $line) =~ s{"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)'|//.*}{}g;
    for my $character (split //, $code) {
      $is_code = grep { $_ eq 'code' } @scopes;
      if ($character eq '{') {
        $closed = 0 if !$is_code;
        my $is_class = defined $declaration && $declaration =~ /^\s*(?:template\s*<.*>\s*)?class\b/;
        push @scopes, $is_code ? 'code' : scope_after($declaration // '');
        push @private, 0;
        $end->() if $scopes[-1] ne 'code';
        $private[-1] = $is_class;
      } elsif ($character eq '}') {
        my $scope = pop @scopes;
        pop @private;
        $closed = $scope eq 'code' && !grep { $_ eq 'code' } @scopes;
        if ($scope eq 'class' || $scope eq 'enum') {
          $declaration = '';
          $first = $i;
        }
      } elsif (!$is_code) {
        my $ends = $character eq ';' || ($character eq ',' && @scopes && $scopes[-1] eq 'enum');
        if ($ends) {
          $end->() if defined $declaration;
        } elsif (defined $declaration || $character =~ /\S/) {
          $first = $i if !defined $declaration;
          $declaration .= $character;
        }
      }
    }
    $declaration .= ' ' if defined $declaration;
    $is_code = grep { $_ eq 'code' } @scopes;
    if (!$is_code && $line =~ m{\S.*?  // (.*)} && $line !~ m{^\} }) {
      my ($text) = documentation($header, $i + 1, $1 =~ s/^([a-z]{2,} )/\u$1/r =~ s/(\w)$/$1./r);
      $result[$i] =~ s{  // .*}{};
      $result[$first] = "/** $text */ " . separated($result[$first], $text);
    }
    $result[$i] = '' if defined $outer && @scopes > $outer && $line !~ /^ *(?:public|protected):/;
    $result[$i] .= " /** \\addtogroup $group\\ilinebr \@{ */ /** \\name $title\\ilinebr $about\\ilinebr \@{ */"
      if $line eq 'namespace weft {';
    $result[$i] = "/** \@} */ /** \@} */ $line" if $line eq '}  // namespace weft';
  }
  return @result;
}

# groups.txt: a line for each group, with its name, title and headers; one that is indented is part
# of the one above. Returns the group of each header, and the definitions for Doxygen.
sub groups {
  my (%group_of, @definitions, @parents);
  for (lines_of(dirname(__FILE__) . '/groups.txt')) {
    next if /^#|^\s*$/;
    my ($indent, $name, $title, $patterns) = /^(\s*)(\w+)\s+(\S.*?)(?:\s{2,}(\S.*))?$/;
    @parents = grep { $_->[0] < length $indent } @parents;
    push @definitions, "/** \\defgroup $name $title", (@parents ? "\\ingroup $parents[-1][1]" : ()), '*/';
    push @parents, [length $indent, $name];
    for my $pattern (split ' ', $patterns // '') {
      my @found = grep { -f "$tree/$_" } map { substr $_, 1 + length $tree } glob "$tree/$pattern.hpp";
      complain("groups.txt: no header $pattern") if !@found && $pattern !~ /\*/;
      for my $header (@found) {
        complain("groups.txt: $header is in two groups") if $group_of{$header};
        $group_of{$header} = $name;
      }
    }
  }
  return (\%group_of, @definitions);
}

read_names(map { "$tree/$_" } @headers);
my ($group_of, @definitions) = groups();
for my $header (@headers) {
  complain("groups.txt: $header is in no group") if !$group_of->{$header};
  my @lines = convert($header, $group_of->{$header} // '');
  write_lines("$folder/weft/$header", @lines) if !$print_examples;
}
if (!$print_examples) {
  write_lines("$folder/groups.dox", @definitions, '/** \namespace weft', 'Everything of weft. */');
}
exit(errors() ? 1 : 0);
