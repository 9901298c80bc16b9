package words

import (
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"testing"
)

func TestInGoroutines(t *testing.T) {
	counts := make(chan int)
	for _, text := range []string{"three small words", "one two three"} {
		go func(text string) { counts <- Count(text) }(text)
	}
	if first, second := <-counts, <-counts; first != 3 || second != 3 {
		t.Fatal(first, second)
	}
}

func TestAProgramAndATemporaryFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(file, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cat", file).Output(); err != nil || string(out) != "x" {
		t.Fatal(string(out), err)
	}
}

func TestTheUserHasAName(t *testing.T) {
	if me, err := user.Current(); err != nil || me.Username == "" { // cgo, where there is a C compiler
		t.Fatal(me, err)
	}
}
