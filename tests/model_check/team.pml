/* How a request that helpers take part in is given up, for spin: see README.md.
 *
 * Inlines carry the names of the functions of queue/lanes/team.h and lanes.cpp whose steps they are.
 * A chunk hangs for good or ends, and so does the leader, whose request is given up in any case.
 * A helper that hangs must be set aside, and one that was set aside must know it when it comes back.
 *
 * Each #ifdef is a plant: a mistake that verification must find.
 */

#define HELPERS 2
#define CHUNKS 3

mtype = { NOBODY, LEADER, SET_ASIDE };

mtype helped[HELPERS] = NOBODY;
bool given_up;
byte chunks_left = CHUNKS;

bool hangs[HELPERS];     /* in a chunk, for good */
bool replaced[HELPERS];  /* another thread has its lane */
bool has_ended[HELPERS]; /* as a thread that was set aside */
bool done;               /* the request was given up, with all that belongs to it */

inline help_once(self) {
  atomic {
    if
    :: chunks_left > 0 ->
       chunks_left--;
       if
       :: hangs[self] = true
       :: true
       fi
    :: else
    fi
  }
}

proctype helper(byte self) {
end_again:
  chunks_left > 0;
#ifdef ASKS_BEFORE_IT_HELPS
  if
  :: given_up -> goto end_idle
  :: else
  fi;
  helped[self] = LEADER;
#else
  helped[self] = LEADER; /* begin_help */
  if
  :: given_up -> goto leaves
  :: else
  fi;
#endif
  help_once(self);
  if
  :: hangs[self] -> goto end_hangs
  :: else
  fi;
leaves: /* end_help */
#ifdef LEAVES_WITHOUT_ASKING
  helped[self] = NOBODY;
#else
  if
  :: atomic { helped[self] == LEADER -> helped[self] = NOBODY }
  :: helped[self] == SET_ASIDE -> has_ended[self] = true; goto end_idle
  fi;
#endif
  if
  :: given_up -> goto end_idle
  :: else -> goto end_again
  fi;
end_hangs:
  false;
end_idle:
  false
}

inline set_aside(who) {
  if
  :: atomic { helped[who] == LEADER -> helped[who] = SET_ASIDE }
     replaced[who] = true
  :: helped[who] != LEADER
  fi
}

active proctype replace() {
  byte i;
#ifndef GIVES_UP_LAST
  given_up = true;
#endif
  set_aside(0);
  set_aside(1);
#ifdef GIVES_UP_LAST
  given_up = true;
#endif
  done = true
}

init {
  atomic {
    run helper(0);
    run helper(1)
  }
end_watch:
  done;
  /* Where nothing happens any more: a lane hangs only if it has a successor, and a thread that has a
     successor hangs or has ended. */
  timeout;
  assert(!hangs[0] || replaced[0]);
  assert(!hangs[1] || replaced[1]);
  assert(!replaced[0] || hangs[0] || has_ended[0]);
  assert(!replaced[1] || hangs[1] || has_ended[1])
}
