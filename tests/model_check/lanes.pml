/* How lanes sleep and are woken, for spin: see README.md.
 *
 * Inlines carry the names of the functions of queue/lanes/lanes.cpp, sleepers.h and ready_list.h
 * whose steps they are; every access to an atomic is a step of its own. A lane spins here for as
 * long as it likes: any number of looks, or one.
 *
 * Without BORROWER a request of source 0 ends only after those of source 1 have, so both lanes must
 * be put to work. With it a third thread runs a request on a borrowed lane (source 2) that ends
 * only after all others: the other lane must do the rest. With HELPER one lane takes a chunk of
 * another request, which ends only after all that are submitted here, and the leader of that
 * request wakes lanes for it: again the other lane must do the rest. With WAITER a thread that
 * waits for source 0 runs its requests on a borrowed lane, if it can. With LEFT any source that
 * becomes ready may be left to such threads, so that no lane is woken for it; none takes it here,
 * and the monitor's check must put both lanes to work. With STEPS_BACK, which needs LEFT, a lane
 * may also once leave what it has to such threads and sleep; there only that leaves sources.
 *
 * Each other #ifdef is a plant: a mistake that verification must find.
 */

#define LANES 2
#ifdef BORROWER
#define SOURCES 3
#define SUBMITTED(s) 1
#else
#define SOURCES 2
#if defined(HELPER) || defined(WAITER) || defined(LEFT) && !defined(STEPS_BACK)
#define SUBMITTED(s) 1
#else
#define SUBMITTED(s) (1 + (s))
#endif
#endif
#define OTHERS_ENDED (ended[0] == SUBMITTED(0) && ended[1] == SUBMITTED(1))
#define NONE 255

mtype = { IDLE, SCHEDULED };

/* Source. */
mtype state[SOURCES];
byte published[SOURCES]; /* requests that wait */
byte ended[SOURCES];

/* ReadyList. */
byte size; /* counted before a source is visible */
bool in_list[SOURCES];
#ifdef LEFT
byte wanting; /* sources for which a lane has to be awake */
bool wakes_lane[SOURCES];
bool check_pending;
bool caller_wants_lane = true; /* for STEPS_BACK, once */
#endif

/* Sleepers. */
byte searching = LANES;
bool parked[LANES];
bool token[LANES];

#define HAS_WORK(s) (published[s] > 0)
#define READY_EMPTY (size == 0)

#ifdef LEFT
#define NONE_WANTS_LANE (wanting == 0)
inline choose() {
#ifdef STEPS_BACK
  wakes = true
#else
  if
  :: wakes = true
  :: wakes = false
  fi
#endif
}
inline count(source) {
  wakes_lane[source] = wakes;
  if
  :: wakes -> wanting++
  :: else
  fi;
  size++
}
inline uncount(source) {
  if
  :: wakes_lane[source] -> wanting--
  :: else
  fi;
  size--
}
#else
#define NONE_WANTS_LANE READY_EMPTY
#define choose() skip
#define count(source) size++
#define uncount(source) size--
#endif

inline push(source) {
  count(source);
  assert(!in_list[source]);
  in_list[source] = true
}

/* The list has a lock; which of its sources is the oldest makes no difference here. */
inline pop(source) {
  atomic {
    if
    :: in_list[0] -> source = 0
    :: in_list[1] -> source = 1
#ifdef BORROWER
    :: in_list[2] -> source = 2
#endif
    :: else -> source = NONE
    fi;
    if
    :: source != NONE -> in_list[source] = false; uncount(source)
    :: else
    fi
  }
}

/* push and pop under the list's lock: never finds it empty. */
inline exchange(source) {
  atomic {
    count(source);
    in_list[source] = true;
    pop(source)
  }
}

/* clear_parked of the first lane whose bit is seen. */
inline take_parked(who) {
  if
  :: parked[0] -> who = 0; parked[0] = false
  :: !parked[0] && parked[1] -> who = 1; parked[1] = false
  :: else -> who = NONE
  fi
}

inline wake_one() {
  if
  :: searching != 0
  :: else ->
     atomic { take_parked(woken) }
     if
     :: woken != NONE ->
        searching++;
        d_step { token[woken] = true; woken = NONE } /* unpark */
     :: else
     fi
  fi
}

#ifdef HELPER
/* Sleepers::wake for more than one. */
inline wake(searchers) {
  seen = searching;
  do
  :: seen < searchers ->
     atomic { take_parked(woken) }
     if
     :: woken != NONE ->
        searching++;
        d_step { token[woken] = true; woken = NONE }
        seen++
     :: else -> break
     fi
  :: else -> break
  od
}
#endif

#ifdef LEFT
inline wake_lane_or_check_later() {
  if
  :: wakes -> wake_one()
#ifdef NEVER_CHECKS
  :: else
#else
  :: else -> check_pending = true /* check_later */
#endif
  fi
}

/* Lanes::Impl::on_time, where each request has been ready for long. */
proctype monitor() {
  byte i, woken = NONE;
end_waits:
  do
  :: check_pending ->
#ifdef CLEARS_AFTER_LOOKING
     if
     :: READY_EMPTY
     :: else -> wake_one()
     fi;
     check_pending = false
#else
     check_pending = false;
     if
     :: READY_EMPTY
     :: else ->
#ifndef CHECKS_ONCE
        atomic { /* want_lanes */
          for (i : 0 .. SOURCES - 1) {
            if
            :: in_list[i] && !wakes_lane[i] -> wakes_lane[i] = true; wanting++
            :: else
            fi
          }
        }
#endif
        wake_one();
#ifndef CHECKS_ONCE
        check_pending = true
#endif
     fi
#endif
  od
}
#else
#define wake_lane_or_check_later() wake_one()
#endif

inline continue_elsewhere(source) {
  choose();
#ifdef WAKE_BEFORE_PUSH
  wake_one();
  push(source)
#else
  push(source);
  wake_lane_or_check_later()
#endif
}

inline exchange_with_oldest(source) {
  choose();
  exchange(source);
  wake_lane_or_check_later()
}

inline try_move_to_scheduled(source, moved) {
  if
  :: state[source] == IDLE -> state[source] = SCHEDULED; moved = true
  :: else -> moved = false
  fi
}

inline schedule(source) {
  atomic { try_move_to_scheduled(source, moved) }
  if
  :: moved -> moved = false; continue_elsewhere(source)
  :: else
  fi
}

/* `kept`: work came meanwhile, and the source is the caller's again. */
inline let_go(source, kept) {
  state[source] = IDLE;
#ifndef IDLE_WITHOUT_LOOKING_AGAIN
  if
  :: HAS_WORK(source) -> atomic { try_move_to_scheduled(source, kept) }
  :: else
  fi
#endif
}

proctype submitter(byte source) {
  byte i, woken = NONE;
#ifdef LEFT
  bool wakes;
#endif
  bool moved;
  for (i : 1 .. SUBMITTED(source)) {
#ifdef SCHEDULE_BEFORE_PUBLISH
    schedule(source);
    published[source]++
#else
#ifdef STEPS_BACK
    atomic { published[source]++; schedule(source) } /* the others check its steps */
#else
    published[source]++;
    schedule(source)
#endif
#endif
  }
}

/* Runs the next request if there is one: a source may have been scheduled for one that has run. */
inline run_one(source) {
  if
  :: HAS_WORK(source) ->
#if !defined(BORROWER) && !defined(HELPER)
     source != 0 || ended[1] == SUBMITTED(1);
#endif
     d_step { published[source]--; ended[source]++ }
  :: else
  fi
}

/* Sleeps unless `nothing` is false. */
inline park(self, nothing) {
  parked[self] = true;
  searching--;
  if
#ifdef SKIP_RECHECK_BEFORE_PARK
  :: true
#else
  :: nothing
  :: else ->
     if
     :: atomic { parked[self] -> parked[self] = false } /* clear_parked */
        searching++;
        goto find_work
     :: else -> /* woken, or lent */
#ifndef LENT_WITH_WORK_LEFT
        wake_one()
#endif
     fi
#endif
  fi;
end_asleep:
  atomic { token[self] -> token[self] = false }
}

#ifdef HELPER
bool chunk = true; /* one, to be taken */

/* The chunk of a request that waits for all others. */
inline help() {
  searching--; /* end_search */
#ifndef HELPS_SILENTLY
  if
  :: NONE_WANTS_LANE
  :: else -> wake_one()
  fi;
#endif
  if
  :: atomic { chunk -> chunk = false }
     OTHERS_ENDED
  :: !chunk /* another lane was faster */
  fi;
  searching++ /* begin_search */
}
#endif

/* One look for work, and where it leads. */
inline poll() {
  if
  :: held != NONE && HAS_WORK(held) ->
     if
     :: READY_EMPTY
     :: else -> exchange_with_oldest(held)
     fi;
     goto found
  :: else ->
     if
     :: READY_EMPTY -> skip
     :: else ->
        if
        :: held != NONE -> let_go(held, kept)
        :: else
        fi;
        if
        :: kept -> kept = false; goto found
        :: else -> pop(held)
        fi;
        if
        :: held != NONE -> goto found
        :: else
        fi
     fi
  fi
}

proctype lane(byte self) {
  byte held = NONE, woken = NONE;
#ifdef LEFT
  bool wakes;
#endif
  bool kept;

find_work:
  poll();
  if
  :: goto find_work /* spins on */
#ifdef HELPER
  :: chunk ->
     if
     :: held != NONE -> let_go(held, kept)
     :: else
     fi;
     if
     :: kept -> kept = false; goto found
     :: else -> held = NONE; help(); goto find_work
     fi
#endif
  :: held != NONE ->
     let_go(held, kept);
     if
     :: kept -> kept = false; goto found
     :: else -> held = NONE
     fi
  :: held == NONE
  fi;
  park(self, READY_EMPTY);
  goto find_work;

found:
  searching--; /* end_search */
#ifndef SILENT_END_OF_SEARCH
  if
  :: NONE_WANTS_LANE
  :: else -> wake_one()
  fi;
#endif
work:
  run_one(held);
#ifdef STEPS_BACK
  if
  :: caller_wants_lane && NONE_WANTS_LANE ->
     caller_wants_lane = false;
     searching++;
     goto step_back
  :: true
  fi;
#endif
  /* continue_with_oldest */
  if
  :: !HAS_WORK(held) -> searching++; goto find_work
  :: else ->
     if
     :: READY_EMPTY
     :: else -> exchange_with_oldest(held)
     fi;
     goto work
  fi;

#ifdef STEPS_BACK
step_back:
  let_go(held, kept);
  if
  :: kept -> /* leave_to_callers */
     kept = false;
     wakes = false;
     push(held);
#ifndef LEAVES_WITHOUT_CHECK
     check_pending = true
#endif
  :: else
  fi;
  held = NONE;
#ifdef STEPS_BACK_BLINDLY
  park(self, true);
#else
  park(self, NONE_WANTS_LANE);
#endif
  goto find_work
#endif
}

#ifdef HELPER
proctype leader() {
  byte seen, woken = NONE;
  wake(LANES)
}
#endif

#ifdef BORROWER
proctype borrower() {
  byte lent = NONE, woken = NONE;
#ifdef LEFT
  bool wakes;
#endif
  bool owner;
  atomic { try_move_to_scheduled(2, owner) }
  /* borrow */
  atomic { take_parked(lent) }
  if
  :: lent != NONE ->
     published[2]++;
     OTHERS_ENDED;
     run_one(2)
  :: else
  fi;
  /* resume */
  owner = false;
  let_go(2, owner);
  if
  :: owner -> continue_elsewhere(2)
  :: else
  fi;
  /* give_back */
  if
  :: lent != NONE ->
     parked[lent] = true;
     if
     :: NONE_WANTS_LANE
     :: else -> wake_one()
     fi
  :: else
  fi
}
#endif

#ifdef WAITER
/* Unit::Impl::help */
proctype waiter() {
  byte lent = NONE, woken = NONE;
#ifdef LEFT
  bool wakes;
#endif
  bool owner;
  /* borrow_ready */
  atomic { take_parked(lent) }
  if
  :: lent != NONE ->
     /* own */
     atomic { try_move_to_scheduled(0, owner) }
     if
     :: owner
     :: else ->
        atomic { /* ReadyList::remove */
          if
          :: in_list[0] -> in_list[0] = false; uncount(0); owner = true
          :: else
          fi
        }
     fi;
     if
     :: owner ->
        do
        :: HAS_WORK(0) -> run_one(0)
        :: else -> break
        od;
        /* resume */
        owner = false;
        let_go(0, owner);
        if
        :: owner -> continue_elsewhere(0)
        :: else
        fi
     :: else
     fi;
     /* give_back */
     parked[lent] = true;
     if
     :: NONE_WANTS_LANE
     :: else -> wake_one()
     fi
  :: else
  fi
}
#endif

init {
  byte i;
  atomic {
    for (i : 0 .. SOURCES - 1) {
      state[i] = IDLE
    }
    run lane(0);
    run lane(1);
    run submitter(0);
    run submitter(1);
#ifdef BORROWER
    run borrower();
#endif
#ifdef HELPER
    run leader();
#endif
#ifdef WAITER
    run waiter();
#endif
#ifdef LEFT
    run monitor();
#endif
    i = 0
  }
  /* Blocked here for good is an invalid end state: work is left, and who could do it sleeps. */
  OTHERS_ENDED
}
