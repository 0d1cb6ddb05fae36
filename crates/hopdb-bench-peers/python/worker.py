"""Loads the friends graph into Kuzu or Ladybug, or walks it; prints one JSON object.

usage: worker.py (kuzu|ladybug) load DB PEOPLE.csv FRIENDS.csv
       worker.py (kuzu|ladybug) walk DB STARTS.json
The CSV files have the headers `id,name` and `from,to`.
"""
import importlib
import json
import sys
import time

WALK = "MATCH (a:Person {id: $id})-[:FRIEND]->()-[:FRIEND]->(c) RETURN c.id"


def load(module, db_path, people, friends):
    began = time.perf_counter()
    db = module.Database(db_path)
    con = module.Connection(db)
    con.execute("CREATE NODE TABLE Person(id INT64, name STRING, PRIMARY KEY(id))")
    con.execute("CREATE REL TABLE FRIEND(FROM Person TO Person)")
    con.execute(f"COPY Person FROM '{people}' (header=true)")
    con.execute(f"COPY FRIEND FROM '{friends}' (header=true)")
    con.execute("CHECKPOINT")
    con.close()
    db.close()
    return {"seconds": time.perf_counter() - began}


def walk(name, module, db_path, starts_path):
    with open(starts_path) as file:
        starts = json.load(file)
    db = module.Database(db_path)
    con = module.Connection(db)
    if name == "kuzu":
        # Kuzu 0.11.3 does not use the primary key for a parameter, and does for a literal: the faster way.
        def run(start):
            return con.execute(WALK.replace("$id", str(start))).get_all()
    else:
        def run(start):
            return con.execute(WALK, {"id": start}).get_all()
    for start in starts[:50]:
        run(start)
    micros, ends, total = [], 0, 0
    for start in starts:
        began = time.perf_counter()
        rows = run(start)
        micros.append((time.perf_counter() - began) * 1e6)
        ends += len(rows)
        total += sum(row[0] for row in rows)
    empty = []
    for _ in range(200):
        began = time.perf_counter()
        con.execute("RETURN 1").get_all()
        empty.append((time.perf_counter() - began) * 1e6)
    con.close()
    db.close()
    return {"micros": micros, "ends": ends, "sum": total, "empty_us": sorted(empty)[len(empty) // 2]}


def main():
    name, task, *rest = sys.argv[1:]
    module = importlib.import_module(name)
    result = load(module, *rest) if task == "load" else walk(name, module, *rest)
    result["version"] = module.__version__
    print(json.dumps(result))


main()
