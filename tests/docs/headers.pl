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
      push @result, length "@text" ? split(/\n/, escaped(join "\n", @text), -1) : '';
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

# Names for what encloses other C++, whatever comments and texts are in it: to be put at the end of a
# pattern that uses them.
my $enclosed = qr{(?(DEFINE)
  (?<quoted> "(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)' | //[^\n]* )
  (?<braces> \{ (?: [^{}"'/]++ | (?&quoted) | (?&braces) | [^{}] )*+ \} )
  (?<parens> \( (?: [^(){}"'/]++ | (?&quoted) | (?&parens) | (?&braces) | [^()] )*+ \) )
  (?<angles> < (?: [^<>]++ | (?&angles) )*+ > )
)}x;
my $template = '(?:template\s*(?&angles)\s*)?';

# The documentation of a declaration whose form says what it is; undef for others.
sub usual_documentation {
  my ($declaration) = @_;
  return 'Not copyable.' if $declaration =~ /^(\w+)\(const \1&\) = delete$/;
  return '\private' if $declaration =~ /\boverride$|= (?:default|delete)$|^(?:virtual )?~|\boperator=\(/
    || $declaration =~ /^(\w+)\((?:const \1&|\1&&)/;
  return "The name of each value of $1." if $declaration =~ /\bEnumNames<(\w+)/;
  return "The name of a value of $1. Throws ValueError for any other value."
    if $declaration =~ /\bto_string\((\w+) /;
  return 'Options of ' . declared($1) . '.'
    if $declaration =~ /^struct (?:WEFT_API )?(\w+)Options\b/ && declared($1);
  return;
}

sub function_name {
  my ($declaration) = @_;
  $declaration =~ s/^$template(?:requires \w+(?&angles))?$enclosed//;
  return $declaration =~ /(operator\s*\S+?|\w+)\s*\(/ ? $1 : '';
}

# A declaration of several variables as several, the later ones with the text.
sub separated {
  my ($declaration, $text) = @_;
  $declaration =~ s!^(\s*)([\w:]+(?&angles)?) (\w+(?: = [^,;()]+)?(?:, \w+(?: = [^,;()]+)?)+);$enclosed!
    my ($indent, $type, @variables) = ($1, $2, split /, /, $3);
    $indent . join(" /** $text */ ", map { "$type $_;" } @variables)
  !e;
  return $declaration;
}

# A text without its lines' contents.
sub emptied { return $_[0] =~ s/[^\n]//gr; }

my ($header, $text);    # that are being converted, from pos($text) on

# Takes what matches from the text; undef if it does not.
sub take {
  my ($pattern) = @_;
  my $from = pos($text) // 0;
  return $text =~ /\G$pattern$enclosed/gc ? substr($text, $from, pos($text) - $from) : undef;
}

# Converts declarations up to the end of their scope, which is of a namespace, class, struct or enum.
sub convert_scope {
  my ($kind) = @_;
  my ($result, $is_private) = ('', $kind eq 'class');
  my ($comment, @documentation) = ('');    # the lines above a declaration, as they are shown
  my ($name, @shared) = ('');              # of the function above, and its documentation
  my $add = sub { $result .= $is_private ? emptied($_[0]) : $_[0]; };

  until ($text =~ /\G\s*(?:\}|\z)/) {
    if (defined(my $lines = take('(?:[ \t]*\n|#[^\n]*\n| *(?:public|private|protected):\n)'))) {
      $is_private = $1 eq 'private' if $lines =~ /(\w+):/;
      $add->(emptied($comment) . ($lines =~ /^#/ ? "\n" : $lines));
      ($comment, $name, @documentation) = ('', '');
      next;
    }
    if (defined(my $lines = take('(?:[ \t]*//[^\n]*\n)+'))) {
      my $number = 1 + substr($text, 0, pos($text) - length $lines) =~ tr/\n//;
      @documentation = documentation($header, $number, map { s{^\s*// ?}{}r } split /\n/, $lines);
      $comment = join '', map { "/// $_\n" } @documentation;
      next;
    }
    my $head = $kind eq 'enum' ? undef
      : take("\\s*$template(?:inline )?(?:namespace|class|struct|enum|union)\\b[^;{}]*\\{");
    my $declaration = $head // take($kind eq 'enum' ? '\s*\w+[^,}\n/]*,?'
      : '(?:[^;{}()"\'/]++|(?&quoted)|(?&parens)|(?&braces)(?=\s*[;,(){&])|["\'/])*+(?:;|(?&braces))')
      // die "$header: not understood: " . substr($text, pos($text), 80) . "\n";
    my ($behind) = map { documentation($header, 0, s{^ *// ?}{}r =~ s/^([a-z]{2,} )/\u$1/r =~ s/(\w)$/$1./r) }
      grep { defined } take(' *//[^\n]*');
    my $end = take('[ \t]*\n') // '';

    (my $bare = $declaration) =~ s/(?&braces)$enclosed//g;
    $bare =~ s/^\s+|\s*[;{]?\s*$//g;
    my $own_name = function_name($bare);
    if ($bare =~ /^extern template|^friend\b|^inline \w+::/) {
      $add->(emptied("$comment$declaration$end"));
    } elsif (@documentation) {
      ($name, @shared) = ($own_name, @documentation);
      $add->($comment . separated($declaration, join '\ilinebr ', @documentation) . $end);
    } elsif (defined $behind) {
      $name = '';
      $add->("/** $behind */ " . separated($declaration, $behind) . $end);
    } elsif (defined(my $usual = usual_documentation($bare))) {
      $add->("/** $usual */ $declaration$end");
    } elsif (length $name && $own_name eq $name) {
      $add->('/** ' . join('\ilinebr ', @shared) . " */ $declaration$end");
    } else {
      $name = '';
      $add->("$declaration$end");
    }
    ($comment, @documentation) = ('');
    if (defined $head) {
      my ($kind_below) = $head =~ /^\s*$template(?:inline )?(\w+)$enclosed/;
      $add->(convert_scope($kind_below));
      $add->(take('\s*\}(?:[^;\n]*;)?[^\n]*\n?'));
    }
  }
  return $result;
}

sub convert {
  my ($group) = @_;
  $text = join "\n", lines_of("$tree/$header"), '';
  # The comment at the top: its first sentence is a title.
  my @top = map { s{^// ?}{}r } split /\n/, take('(?://[^\n]*\n)*');
  my ($title, $about) = split /(?<=\.)(?:\s|$)/, join("\n", @top), 2;
  $title =~ s/\s+/ /g;
  $title =~ s/[.`]//g;
  my @about = split /\n/, $about // '';
  $about = join '\ilinebr ', documentation($header, 1 + @top - @about, @about);
  my $result = "\n" x @top . convert_scope('namespace');
  $result =~ s{^(namespace weft \{)$}{$1 /** \\addtogroup $group\\ilinebr \@\{ */ /** \\name $title\\ilinebr $about\\ilinebr \@\{ */}m;
  $result =~ s{^(\}  // namespace weft)$}{/** \@\} */ /** \@\} */ $1}m;
  return $result;
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
for (@headers) {
  $header = $_;
  complain("groups.txt: $header is in no group") if !$group_of->{$header};
  my @lines = split /\n/, convert($group_of->{$header} // "");
  write_lines("$folder/weft/$header", @lines) if !$print_examples;
}
if (!$print_examples) {
  write_lines("$folder/groups.dox", @definitions, '/** \namespace weft', 'Everything of weft. */');
}
exit(errors() ? 1 : 0);
