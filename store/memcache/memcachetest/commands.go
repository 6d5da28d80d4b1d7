package memcachetest

import (
	"bytes"
	"errors"
	"math"
	"strconv"
)

const (
	longestKey = 250

	replyBadExptime = "CLIENT_ERROR invalid exptime argument"
	replyBadDelta   = "CLIENT_ERROR invalid numeric delta argument"
	replyBadChunk   = "CLIENT_ERROR bad data chunk"
	replyTooLarge   = "SERVER_ERROR object too large for cache"
	replyBadDelete  = replyBadFormat + ".  Usage: delete <key> [noreply]"
)

func (s *session) get(args [][]byte) error  { return s.retrieve(args[1:], false, s.engine.get) }
func (s *session) gets(args [][]byte) error { return s.retrieve(args[1:], true, s.engine.get) }
func (s *session) gat(args [][]byte) error  { return s.retrieveAndTouch(args, false) }
func (s *session) gats(args [][]byte) error { return s.retrieveAndTouch(args, true) }

func (s *session) retrieveAndTouch(args [][]byte, withUnique bool) error {
	exptime, ok := parseInt32(args[1])
	if !ok {
		s.reply(replyBadExptime)
		return nil
	}
	expires := s.engine.expiry(exptime)
	return s.retrieve(args[2:], withUnique, func(key string) (item, bool) { return s.engine.touch(key, expires) })
}

// retrieve answers with every item that find has. A key that is too long spoils the whole answer, yet the keys before it have been asked for.
// Like memcached it lets no whole answer wait for the commands that follow.
func (s *session) retrieve(keys [][]byte, withUnique bool, find func(key string) (item, bool)) error {
	spoiled := false
	for i, key := range keys {
		if len(key) > longestKey {
			spoiled, keys = true, keys[:i]
			break
		}
	}
	for _, key := range keys {
		it, ok := find(string(key))
		if ok && !spoiled {
			s.writeValue(it, withUnique)
		}
	}
	if spoiled {
		s.reply(replyBadFormat)
		return nil
	}
	s.reply("END")
	return s.out.Flush()
}

func (s *session) set(args [][]byte) error     { return s.store(modeSet, args) }
func (s *session) add(args [][]byte) error     { return s.store(modeAdd, args) }
func (s *session) replace(args [][]byte) error { return s.store(modeReplace, args) }
func (s *session) append(args [][]byte) error  { return s.store(modeAppend, args) }
func (s *session) prepend(args [][]byte) error { return s.store(modePrepend, args) }
func (s *session) cas(args [][]byte) error     { return s.store(modeCAS, args) }

func (s *session) store(mode storeMode, args [][]byte) error {
	s.noreply(args)
	flags, okFlags := parseUint32(args[2])
	exptime, okExptime := parseInt32(args[3])
	length, okLength := parseInt32(args[4])
	unique, okUnique := uint64(0), true
	if mode == modeCAS {
		unique, okUnique = parseUint(args[5])
	}
	if len(args[1]) > longestKey || !okFlags || !okExptime || !okLength || !okUnique ||
		length < 0 || length > math.MaxInt32-2 {
		s.reply(replyBadFormat)
		return nil
	}

	it := item{key: string(args[1]), flags: flags, expires: s.engine.expiry(exptime)}
	if it.size()+int(length) > s.engine.opts.MaxItemSize {
		s.reply(replyTooLarge)
		s.engine.refuse(it.key, mode == modeSet)
		return s.in.skip(int(length) + 2)
	}
	data, err := s.in.block(int(length) + 2)
	if err != nil {
		return err
	}
	s.engine.countSet()
	value, whole := bytes.CutSuffix(data, []byte("\r\n"))
	if !whole {
		s.reply(replyBadChunk)
		return nil
	}
	it.value = value
	s.reply(string(s.engine.store(mode, it, unique)))
	return nil
}

func (s *session) incr(args [][]byte) error { return s.arithmetic(args, false) }
func (s *session) decr(args [][]byte) error { return s.arithmetic(args, true) }

func (s *session) arithmetic(args [][]byte, down bool) error {
	s.noreply(args)
	if len(args[1]) > longestKey {
		s.reply(replyBadFormat)
		return nil
	}
	delta, ok := parseUint(args[2])
	if !ok {
		s.reply(replyBadDelta)
		return nil
	}
	if n, result := s.engine.add(string(args[1]), delta, down); result == outcomeStored {
		s.reply(strconv.FormatUint(n, 10))
	} else {
		s.reply(string(result))
	}
	return nil
}

func (s *session) touch(args [][]byte) error {
	s.noreply(args)
	if len(args[1]) > longestKey {
		s.reply(replyBadFormat)
		return nil
	}
	exptime, ok := parseInt32(args[2])
	if !ok {
		s.reply(replyBadExptime)
		return nil
	}
	if _, ok := s.engine.touch(string(args[1]), s.engine.expiry(exptime)); ok {
		s.reply("TOUCHED")
	} else {
		s.reply(string(outcomeNotFound))
	}
	return nil
}

// delete takes a time of 0 from old clients, and no other.
func (s *session) delete(args [][]byte) error {
	if len(args) > 2 {
		s.noreply(args)
		zero := string(args[2]) == "0"
		if valid := zero && s.quiet || len(args) == 3 && (zero || s.quiet); !valid {
			s.reply(replyBadDelete)
			return nil
		}
	}
	switch {
	case len(args[1]) > longestKey:
		s.reply(replyBadFormat)
	case s.engine.remove(string(args[1])):
		s.reply("DELETED")
	default:
		s.reply(string(outcomeNotFound))
	}
	return nil
}

func (s *session) flushAll(args [][]byte) error {
	s.noreply(args)
	s.engine.countFlush()
	var delay int32
	if len(args) > 2 || len(args) == 2 && !s.quiet {
		var ok bool
		if delay, ok = parseInt32(args[1]); !ok {
			s.reply(replyBadExptime)
			return nil
		}
	}
	s.engine.flushAll(delay)
	s.reply("OK")
	return nil
}

// verbosity is accepted and changes nothing: there is no log.
func (s *session) verbosity(args [][]byte) error {
	s.noreply(args)
	if _, ok := parseUint(args[1]); !ok {
		s.reply(replyBadFormat)
		return nil
	}
	s.reply("OK")
	return nil
}

func (s *session) version([][]byte) error {
	s.reply("VERSION " + Version)
	return nil
}

func (s *session) quit([][]byte) error { return errors.Join(errHangUp, s.out.Flush()) }
