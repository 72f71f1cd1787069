"""What the Trace Event Format demands of a trace, so that the viewers show all of it.

The format is Chromium's: "Trace Event Format", of the Catapult project.  What it leaves open is here what ui.perfetto.dev,
chrome://tracing and speedscope need: slices of a track lie within each other, and a flow has two ends, in slices, one after
the other in time.
"""

MEMBERS = {"M": {"args"}, "X": {"ts", "dur"}, "I": {"ts", "s"}, "s": {"ts", "id", "cat"},
           "f": {"ts", "id", "cat", "bp"}}
LARGEST = 2**53  # viewers read numbers as doubles


def is_number(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < LARGEST


def problems_of_event(event):
    """What is wrong with one event by itself."""
    phase = event.get("ph")
    if phase not in MEMBERS:
        return [f"unknown phase: {event}"]
    problems = [f"no {member}: {event}" for member in sorted(MEMBERS[phase] - event.keys())]
    problems += [f"{member} is no number: {event}" for member in ("pid", "tid", "ts", "dur", "id")
                 if (member in event or member in ("pid", "tid")) and not is_number(event.get(member))]
    if not isinstance(event.get("name"), str) or not event["name"]:
        problems.append(f"no name: {event}")
    if not isinstance(event.get("args", {}), dict):
        problems.append(f"args are no object: {event}")
    if phase == "I" and event.get("s") not in ("g", "p", "t"):
        problems.append(f"unknown scope: {event}")
    if phase == "f" and event.get("bp") != "e":
        problems.append(f"not bound to the slice around it: {event}")
    return problems


def slices_of(events):
    """The slices of one track as (begin, end, name)."""
    return [(event["ts"], event["ts"] + event["dur"], event["name"]) for event in events if event["ph"] == "X"]


def problems_of_slices(slices):
    problems, around = [], []
    for begin, end, name in sorted(slices, key=lambda one: (one[0], -one[1])):
        if begin >= end:
            problems.append(f"{name} has no length at {begin}")
        while around and around[-1][1] <= begin:
            around.pop()
        if around and end > around[-1][1]:
            problems.append(f"{name} at {begin}-{end} leaves {around[-1][2]} at {around[-1][0]}-{around[-1][1]}")
        around.append((begin, end, name))
    return problems


def problems_of_flows(events, slices):
    """slices: by track"""
    problems, ends = [], {}
    for event in events:
        if event["ph"] in "sf":
            ends.setdefault((event["cat"], event["name"], event["id"]), []).append(event)
            track = slices.get((event["pid"], event["tid"]), [])
            if not any(begin <= event["ts"] < end for begin, end, _ in track):
                problems.append(f"in no slice: {event}")
    for flow, both in ends.items():
        if [event["ph"] for event in sorted(both, key=lambda event: event["ts"])] != ["s", "f"]:
            problems.append(f"flow {flow} has the ends {both}")
    return problems


def problems_of(trace):
    """What is wrong with a trace: a list of sentences."""
    problems = [problem for event in trace for problem in problems_of_event(event)]
    if problems:
        return problems
    tracks = {}
    for event in trace:
        if event["ph"] != "M":
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    names = [(event["name"], event["pid"], event["tid"]) for event in trace if event["ph"] == "M"]
    problems += [f"{name} has several names" for name in sorted(set(names)) if names.count(name) > 1]
    slices = {track: slices_of(events) for track, events in tracks.items()}
    for (process, thread), of_track in slices.items():
        problems += problems_of_slices(of_track)
        if of_track and ("thread_name", process, thread) not in names:
            problems.append(f"track {process}.{thread} has no name")
    return problems + problems_of_flows(trace, slices)
