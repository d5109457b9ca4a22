/* The ring and the wait list of an execution unit, for spin: see README.md.
 *
 * Processes are the threads at a unit; inlines carry the names of the functions of
 * queue/requests/ring.h, queue/waiting/wait_list.h and queue/units/unit_*.cpp whose steps they are.
 * Every access to an atomic is a step of its own. Spin's memory is sequentially consistent, as are
 * the accesses on which the protocols rest (publish, complete_removed, complete, pass, look,
 * is_completed, first_wanted_); what the others publish is checked by the explorer.
 *
 * Left out, because they only wait: the room of a full unit (a submitter here waits for a claim
 * that succeeds) and the sleep of lanes (lanes.pml).
 *
 * Each #ifdef is a plant, a mistake that verification must find, except WATCHDOG.
 */

#ifndef SUBMITTERS
#define SUBMITTERS 2
#endif
#ifndef REQUESTS
#define REQUESTS 4 /* of all submitters together */
#endif
#ifndef CANCELS
#define CANCELS 2 /* attempts to remove a request */
#endif
#ifndef WAITERS
#define WAITERS 0 /* or 1 */
#endif
#define DEPTH 2
#define CELLS 3 /* as few as possible: with removed requests there are more numbers than cells */
#define NONE 255

mtype = { VACANT, READY, TAKEN, REMOVED, GONE };

/* Ring. A cell's word is counter and phase, written at once; so is progress_. */
byte tail;
byte completed, ahead;
byte word_counter[CELLS];
mtype word_phase[CELLS];
byte running_counter;
bool running_now;
bool watch_locked; /* watch_mutex_ */

/* What cells store: the numbers of tasks. idle is the owner's while nothing runs. */
byte request[CELLS];
byte idle;

/* By task (in cells, the lane's, the watchdog's): the counter of the request that it is in use for,
 * from claim to release; 0 while it is not. */
byte used_for[CELLS + 2];

/* By counter. */
bool started[REQUESTS + 1], removed[REQUESTS + 1], recorded[REQUESTS + 1];
byte completions[REQUESTS + 1];

/* WaitList, of one waiter. */
bool locked;
bool linked;
byte wanted;
byte first_wanted = NONE;
bool token;

#define CELL(c) (((c) - 1) % CELLS)
#define WORD_IS(c, p) (word_counter[CELL(c)] == (c) && word_phase[CELL(c)] == (p))
#define IN_FLIGHT (tail - completed - ahead)
#define HEAD (completed + 1)
#define IS_PASSED(c)                                                                             \
  (word_counter[CELL(c)] > (c) || WORD_IS(c, REMOVED) || WORD_IS(c, GONE))
#define OUT_OF_USE(c) (word_phase[CELL(c)] == VACANT || word_phase[CELL(c)] == GONE)
#ifdef CLAIM_BY_PHASE_ALONE
#define IS_VACANT(c) OUT_OF_USE(c)
#else
#define IS_VACANT(c)                                                                             \
  (OUT_OF_USE(c) && word_counter[CELL(c)] == ((c) > CELLS -> (c) - CELLS : 0))
#endif

#define SET_WORD(c, p)                                                                           \
  d_step { word_counter[CELL(c)] = c; word_phase[CELL(c)] = p }

/* --- Submitters. */

/* One step: free places and vacant cells only grow in number until the next claim, which makes the
 * exchange of the tail fail. The submitter fills the task at once, and owns it until publish. */
inline claim(counter) {
  d_step {
    tail++;
    counter = tail;
    assert(IN_FLIGHT <= DEPTH);
    assert(used_for[request[CELL(counter)]] == 0);
    used_for[request[CELL(counter)]] = counter
  }
}

inline publish(counter) { SET_WORD(counter, READY) }

proctype submitter() {
  byte c;
  do
  :: atomic { tail < REQUESTS && IN_FLIGHT < DEPTH && IS_VACANT(tail + 1) -> claim(c) }
     publish(c)
  :: tail == REQUESTS -> break
  od
}

/* --- Waiters. */

inline is_completed(counter, answer) {
  if
  :: counter <= completed -> answer = true
  :: else ->
     if
     :: word_counter[CELL(counter)] == counter ->
        answer = (word_phase[CELL(counter)] == REMOVED || word_phase[CELL(counter)] == GONE)
     :: word_counter[CELL(counter)] < counter -> answer = false
     :: word_counter[CELL(counter)] > counter -> answer = (running_counter != counter)
     fi
  fi
}

inline lock() { atomic { !locked -> locked = true } }
inline unlock() { locked = false }

inline notify() {
  d_step { linked = false; first_wanted = NONE }
  token = true /* unpark */
}

inline completed_through(counter) {
  if
  :: first_wanted <= counter ->
     lock();
     if
     :: linked && wanted <= counter -> notify()
     :: else
     fi;
     unlock()
  :: else
  fi
}

inline completed_alone(counter) {
  if
  :: first_wanted <= counter ->
     lock();
     if
     :: linked && wanted == counter -> notify()
     :: else
     fi;
     unlock()
  :: else
  fi
}

/* WaitList::add, under the list's lock: announces itself, then looks again. */
inline add(counter, too_late) {
  lock();
  d_step { linked = true; wanted = counter; first_wanted = counter }
#ifdef SKIP_RECHECK_BEFORE_PARK
  too_late = false;
#else
  is_completed(counter, too_late);
#endif
  if
  :: too_late -> d_step { linked = false; first_wanted = NONE }
  :: else
  fi;
  unlock()
}

inline park() { atomic { token -> token = false } }

proctype waiter() {
  byte c = 1;
  bool done;
  do
  :: c < REQUESTS -> c++
  :: break
  od;
  tail >= c;
  is_completed(c, done);
  if
  :: done
  :: else ->
     add(c, done);
     if
     :: done
     :: else -> park()
     fi
  fi;
  assert(recorded[c])
}

/* --- Threads that complete requests. */

inline record(counter) { recorded[counter] = true }

inline count_completion(counter) {
  assert(completions[counter] == 0);
  completions[counter]++
}

inline take(counter, taken) {
  atomic {
    taken = WORD_IS(counter, READY);
    if
    :: taken -> word_phase[CELL(counter)] = TAKEN
    :: else
    fi
  }
}

inline complete_removed(counter) {
#ifdef REMOVED_BEFORE_COUNTED
  SET_WORD(counter, REMOVED);
  d_step { ahead++; count_completion(counter) }
#else
  d_step { ahead++; count_completion(counter) }
  SET_WORD(counter, REMOVED)
#endif
}

inline vacate(counter) { word_phase[CELL(counter)] = GONE }

inline release(task) {
  d_step { assert(used_for[task] != 0); used_for[task] = 0 }
}

inline remove(counter) {
  removed[counter] = true;
#ifndef RECORD_AFTER_REMOVED
  record(counter);
#endif
#ifdef WAKE_BEFORE_REMOVED
  completed_alone(counter);
#endif
  complete_removed(counter);
#ifdef RECORD_AFTER_REMOVED
  record(counter);
#endif
#ifndef WAKE_BEFORE_REMOVED
  completed_alone(counter);
#endif
#ifdef VACATE_BEFORE_RELEASE
  task = request[CELL(counter)];
  vacate(counter);
  release(task)
#else
  release(request[CELL(counter)]);
  vacate(counter)
#endif
}

proctype canceller() {
  byte c, task, attempts;
  bool taken;
  do
  :: attempts < CANCELS ->
     attempts++;
     atomic {
       c = 1;
       do
       :: c < REQUESTS -> c++
       :: break
       od
     }
     tail >= c;
     take(c, taken);
     if
     :: taken -> remove(c)
     :: else
     fi
  :: attempts == CANCELS -> break
  od
}

/* --- The owner of the unit. */

inline set_running(counter) {
  d_step { running_counter = counter; running_now = true }
}

inline start(counter) {
  started[counter] = true;
#ifdef RUNNING_BEFORE_SWAP
  set_running(counter);
#endif
  d_step { /* swap */
    task = request[CELL(counter)];
    request[CELL(counter)] = idle;
    idle = task
  }
#ifdef VACATE_BEFORE_RUNNING
  SET_WORD(counter, VACANT);
#endif
#ifndef RUNNING_BEFORE_SWAP
  set_running(counter);
#endif
#ifndef VACATE_BEFORE_RUNNING
  SET_WORD(counter, VACANT)
#endif
}

inline finish(counter, own) {
  atomic {
    own = (running_now && running_counter == counter);
    running_now = (own -> false : running_now)
  }
#ifdef COMPLETE_WITHOUT_FINISH
  own = true
#endif
}

inline complete(counter) {
  d_step { completed++; count_completion(counter) }
}

inline pass() {
  d_step { assert(ahead > 0); completed++; ahead-- }
}

inline publish_completion(counter, task) {
  assert(used_for[task] == counter);
#ifndef RECORD_AFTER_COMPLETE
  record(counter);
#endif
#ifdef WAKE_BEFORE_PUBLISH
  completed_through(counter);
#endif
  complete(counter);
#ifdef RECORD_AFTER_COMPLETE
  record(counter);
#endif
#ifndef WAKE_BEFORE_PUBLISH
  completed_through(counter)
#endif
}

/* The lane lost its request: the thread that gave it up is done with the task before it is released. */
inline abandon() {
#ifdef RELEASE_DURING_GIVE_UP
  skip
#else
  !watch_locked
#endif
}

/* With REUSE_BEFORE_RELEASE the next request starts, and so puts the task of the last one into a
 * cell, before what that one referred to is released. */
inline run_one() {
  take(c, taken);
  if
  :: taken ->
     start(c);
#ifdef REUSE_BEFORE_RELEASE
     if
     :: unreleased != NONE -> release(unreleased)
     :: else
     fi;
#endif
     finish(c, own);
     if
     :: own -> publish_completion(c, task)
     :: else -> abandon()
     fi;
#ifdef REUSE_BEFORE_RELEASE
     unreleased = task
#else
     release(task)
#endif
  :: else
  fi
}

#ifdef PASS_BEFORE_REMOVED
#define MAY_PASS(c) (IS_PASSED(c) || WORD_IS(c, TAKEN))
#else
#define MAY_PASS(c) IS_PASSED(c)
#endif

/* take_head and run_one, again and again. Without work the lane waits: lanes.pml. */
proctype lane() {
  byte c, task, unreleased = NONE;
  bool taken, own = true;
  do
  :: atomic { own && completed < REQUESTS && MAY_PASS(HEAD) -> pass() }
  :: atomic { own && completed < REQUESTS && WORD_IS(HEAD, READY) -> c = HEAD }
     run_one()
  :: !own || completed == REQUESTS -> break
  od;
#ifdef REUSE_BEFORE_RELEASE
  if
  :: unreleased != NONE -> release(unreleased)
  :: else
  fi
#endif
}

#ifdef WATCHDOG
/* Takes the unit from the lane while a request runs. The lane keeps the task and releases it when
 * it comes back; the unit goes on with another one. */
inline give_up(counter) {
  watch_locked = true;
  finish(counter, own);
  if
  :: own ->
     d_step { task = idle; idle = CELLS + 1 }
     publish_completion(counter, task)
  :: else
  fi;
  watch_locked = false
}

proctype watchdog() {
  byte c, task, unreleased = NONE;
  bool taken, own;
  if
  :: atomic { running_now -> c = running_counter }
     give_up(c)
  :: completed == REQUESTS
  fi;
  do
  :: atomic { own && completed < REQUESTS && MAY_PASS(HEAD) -> pass() }
  :: atomic { own && completed < REQUESTS && WORD_IS(HEAD, READY) -> c = HEAD }
     run_one()
  :: !own || completed == REQUESTS -> break
  od
}
#endif

init {
  byte c;
  atomic {
    for (c : 0 .. CELLS - 1) {
      request[c] = c;
      word_phase[c] = VACANT
    }
    idle = CELLS;
    for (c : 1 .. SUBMITTERS) {
      run submitter()
    }
#if WAITERS
    run waiter();
#endif
    run canceller();
    run lane();
#ifdef WATCHDOG
    run watchdog();
#endif
    c = 0
  }
  /* A thread that never gets here, and sleeps for ever, is an invalid end state. */
  _nr_pr == 1;
  assert(tail == REQUESTS && completed == REQUESTS && ahead == 0 && !running_now);
  for (c : 1 .. REQUESTS) {
    assert(recorded[c] && completions[c] == 1 && started[c] != removed[c])
  }
  for (c : 0 .. CELLS + 1) {
    assert(used_for[c] == 0)
  }
}
