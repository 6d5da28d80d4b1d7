package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/weirlimits/weir"
	"github.com/weirlimits/weir/algorithms"
	"github.com/weirlimits/weir/bench/racy"
	"github.com/weirlimits/weir/internal/layers"
)

// flagSet says which of the common flags a verb has.
type flagSet uint8

const (
	flagStore     flagSet = 1 << iota // --store
	flagAlgorithm                     // --algorithm
	flagLimit                         // --limit
	flagSeed                          // --seed
	flagFormat                        // --format
	flagOutput                        // --output, -o
	flagFailIf                        // --fail-if
)

// The formats of standard output.
const (
	formatText     = "text"
	formatJSON     = "json"
	formatCSV      = "csv"
	formatMarkdown = "md"
	formatHTML     = "html"
)

// common is what the verbs share: the streams, and the flags that more than one of them has. Each verb
// has its own. It registers the flags it takes with [common.register], and calls [common.parse] before it
// reads them.
type common struct {
	stdin          io.Reader
	stdout, stderr io.Writer

	stores     []string         // URLs, checked but not opened
	algorithms []weir.Algorithm // all, where --algorithm is not given; each under all layers of --limit
	alone      []weir.Algorithm // the same without the further layers
	limits     []weir.Limit     // the layers of --limit
	limit      weir.Limit       // the first of them
	seed       uint64
	format     string      // of standard output
	outputs    []string    // files, whose endings say what they hold
	failIf     []threshold // any of them that holds makes the run exit with 1
	withRacy   bool        // all algorithms are also those that are not atomic; set before parse

	given   rawFlags
	flags   flagSet
	formats []string // what --format takes
	metrics []string // what --fail-if takes
}

// rawFlags are the common flags as they were typed.
type rawFlags struct {
	stores, algorithms, outputs, failIf []string
	limit, format                       string
	seed                                uint64
}

// register adds the common flags in which to a verb. formats are the ones that --format takes, the
// default first, and metrics the names that --fail-if takes.
func (c *common) register(cmd *cobra.Command, which flagSet, formats, metrics []string) {
	c.flags, c.formats, c.metrics = which, formats, metrics
	fs := cmd.Flags()
	if which&flagStore != 0 {
		fs.StringArrayVar(&c.given.stores, "store", nil,
			"store `URL`, repeatable: memory: redis://[user:password@]host:port/0 rediss:// redis+cluster://h1,h2\n"+
				"redis+sentinel://h1,h2/name/0 memcache://h1:p,h2:p memcache+counter://h1:p redis:private memcache:private\n"+
				"(default "+strings.Join(defaultStores, ", ")+")")
		complete(cmd, "store", defaultStores)
	}
	if which&flagAlgorithm != 0 {
		fs.StringArrayVar(&c.given.algorithms, "algorithm", nil,
			"algorithm `NAME[,option=value]`, repeatable, such as gcra,burst=20 (default all)")
		var names []string
		for _, e := range algorithms.Registry() {
			names = append(names, e.Name)
		}
		complete(cmd, "algorithm", names)
	}
	if which&flagLimit != 0 {
		fs.StringVar(&c.given.limit, "limit", "10/1s", "limit `COUNT/WINDOW`, such as 100/min, 5/500ms or 1000/30d; layers joined by +: 100/1m+5/1s")
	}
	if which&flagSeed != 0 {
		fs.Uint64Var(&c.given.seed, "seed", 1, "seed `N` of everything random")
	}
	if which&flagFormat != 0 {
		fs.StringVar(&c.given.format, "format", formats[0], "`FORMAT` of standard output: "+strings.Join(formats, ", "))
		complete(cmd, "format", formats)
	}
	if which&flagOutput != 0 {
		fs.StringArrayVarP(&c.given.outputs, "output", "o", nil,
			"also write to `FILE`, repeatable; its ending says what: .json .csv .md .html")
	}
	if which&flagFailIf != 0 {
		fs.StringArrayVar(&c.given.failIf, "fail-if", nil,
			"exit with 1 if `EXPR` holds for any result, repeatable, such as 'max_in_window>10'; metrics:\n"+strings.Join(metrics, ", "))
	}
}

// complete names the values of a flag to the shell. Its only error is an unknown flag.
func complete(cmd *cobra.Command, flag string, values []string) {
	_ = cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp))
}

// parse reads and checks the flags that the verb registered. It connects to nothing.
func (c *common) parse() error {
	for _, part := range []struct {
		which flagSet
		parse func() error
	}{
		{flagStore, c.parseStores},
		{flagAlgorithm, c.parseAlgorithms},
		{flagLimit, c.parseLimit},
		{flagFormat, c.parseFormat},
		{flagOutput, c.parseOutputs},
		{flagFailIf, c.parseFailIf},
	} {
		if c.flags&part.which == 0 {
			continue
		}
		if err := part.parse(); err != nil {
			return err
		}
	}
	c.seed = c.given.seed
	return nil
}

func (c *common) parseAlgorithms() error {
	c.algorithms = nil
	for _, name := range c.given.algorithms {
		a, err := parseAlgorithm(name)
		if err != nil {
			return err
		}
		if !c.addAlgorithm(a) {
			return &weir.FieldError{
				Field: "--algorithm", Value: strconv.Quote(name), Want: "each algorithm once; " + a.String() + " is there already",
			}
		}
	}
	if len(c.algorithms) == 0 {
		c.algorithms = algorithms.All()
	}
	if c.withRacy {
		for _, a := range racy.All() {
			c.addAlgorithm(a)
		}
	}
	return nil
}

// parseAlgorithm also knows the racy ones, which no table lists unless they are asked for.
func parseAlgorithm(name string) (weir.Algorithm, error) {
	if a, err := racy.Parse(name); err == nil {
		return a, nil
	}
	return algorithms.Parse(name)
}

// addAlgorithm reports whether it is a new one.
func (c *common) addAlgorithm(a weir.Algorithm) bool {
	if slices.ContainsFunc(c.algorithms, func(b weir.Algorithm) bool { return a.String() == b.String() }) {
		return false
	}
	c.algorithms = append(c.algorithms, a)
	return true
}

func (c *common) parseLimit() error {
	var err error
	if c.limits, err = weir.ParseLimits(c.given.limit); err != nil {
		return err
	}
	c.limit = c.limits[0]
	if c.flags&flagAlgorithm == 0 {
		return nil
	}
	var fit, alone []weir.Algorithm
	for i, one := range c.algorithms {
		a := layers.Under(one, c.limits[1:])
		switch _, err := a.Shape(c.limit); {
		case err == nil:
			fit, alone = append(fit, a), append(alone, one)
		case i < len(c.given.algorithms):
			return err // it was asked for
		default:
			c.note("left out: %s: %v", a, err)
		}
	}
	c.algorithms, c.alone = fit, alone
	return nil
}

func (c *common) parseFormat() error {
	c.format = c.given.format
	if !slices.Contains(c.formats, c.format) {
		return &weir.FieldError{Field: "--format", Value: strconv.Quote(c.format), Want: either(c.formats)}
	}
	return nil
}

// either joins words to a choice: "a, b or c".
func either(words []string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// again returns the verb and the flags that make its run again, without credentials.
func (c *common) again(cmd *cobra.Command, open backends) []string {
	words := []string{cmd.Name()}
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "output", "format", "fail-if":
		case "store":
			for _, b := range open {
				words = append(words, "--store", b.Name)
			}
		default:
			if many, ok := f.Value.(pflag.SliceValue); ok {
				for _, value := range many.GetSlice() {
					words = append(words, "--"+f.Name, value)
				}
				return
			}
			words = append(words, "--"+f.Name)
			if f.NoOptDefVal == "" {
				words = append(words, f.Value.String())
			}
		}
	})
	return words
}

// note prints a line to standard error.
func (c *common) note(format string, args ...any) {
	fmt.Fprintln(c.stderr, printable(fmt.Sprintf(format, args...)))
}
