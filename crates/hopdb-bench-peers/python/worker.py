"""Loads the friends graph into a peer that comes as a Python package, or walks it; prints one JSON object.

usage: worker.py (kuzu|ladybug|duckdb) load DB PEOPLE.csv FRIENDS.csv
       worker.py (kuzu|ladybug) walk DB STARTS.json
The CSV files have the headers `id,name` and `from,to`. DuckDB gets bare tables: it holds no graph to walk.
"""
import importlib
import json
import sys
import time

WALK = "MATCH (a:Person {id: $id})-[:FRIEND]->()-[:FRIEND]->(c) RETURN c.id"


def load(name, module, db_path, people, friends):
    fill, count = (fill_tables, count_rows) if name == "duckdb" else (fill_graph, count_relationships)
    began = time.perf_counter()
    fill(module, db_path, people, friends)
    seconds = time.perf_counter() - began
    peak = peak_bytes()
    return {"seconds": seconds, "peak_bytes": peak, "relationships": count(module, db_path)}


def fill_graph(module, db_path, people, friends):
    db = module.Database(db_path)
    con = module.Connection(db)
    con.execute("CREATE NODE TABLE Person(id INT64, name STRING, PRIMARY KEY(id))")
    con.execute("CREATE REL TABLE FRIEND(FROM Person TO Person)")
    con.execute(f"COPY Person FROM '{people}' (header=true)")
    con.execute(f"COPY FRIEND FROM '{friends}' (header=true)")
    con.execute("CHECKPOINT")
    con.close()
    db.close()


def count_relationships(module, db_path):
    db = module.Database(db_path, read_only=True)
    con = module.Connection(db)
    count = con.execute("MATCH ()-[f:FRIEND]->() RETURN count(*)").get_all()[0][0]
    con.close()
    db.close()
    return count


def fill_tables(module, db_path, people, friends):
    con = module.connect(db_path)
    con.execute("CREATE TABLE person(id BIGINT, name VARCHAR)")
    con.execute("CREATE TABLE friend(src BIGINT, dst BIGINT)")
    con.execute(f"COPY person FROM '{people}' (HEADER)")
    con.execute(f"COPY friend FROM '{friends}' (HEADER)")
    con.execute("CHECKPOINT")
    con.close()


def count_rows(module, db_path):
    con = module.connect(db_path, read_only=True)
    count = con.execute("SELECT count(*) FROM friend").fetchone()[0]
    con.close()
    return count


def peak_bytes():
    """Most resident memory of this process so far; None where the system does not tell."""
    try:
        with open("/proc/self/status") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return None


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
    result = load(name, module, *rest) if task == "load" else walk(name, module, *rest)
    print(json.dumps(result))


main()
