//! What `/inspect/nodes/{id}` tells of the selected node, read once for the tabs that show it.

import { isAbort } from "../api";
import { Emitter } from "../emitter";
import type { Session } from "../session";
import type { Cell, Id, InspectedNode } from "../types";

export interface InspectedEvents {
  changed: undefined;
}

/** A cell with the words that say whose it is. */
export interface NamedCell {
  name: string;
  note: string;
  cell: Cell;
}

export class Inspected extends Emitter<InspectedEvents> {
  answer: InspectedNode | null = null;
  error: unknown = null;
  private id: Id | null = null;
  private asked = new AbortController();

  constructor(private readonly session: Session) {
    super();
    session.on("selected", (selection) => this.choose(selection?.id ?? null));
    session.on("tab", () => this.want());
    session.on("opened", () => this.again());
  }

  get hasNode(): boolean {
    return this.id !== null;
  }

  /** All cells of the answer: the record, the first block of each group, the entries of indexes. */
  get cells(): NamedCell[] {
    const { answer } = this;
    if (!answer) return [];
    const blocks = answer.adjacency.map(({ direction, type, relationships, blocks: number, first }) => ({
      name: `${direction === "out" ? "Outgoing" : "Incoming"} ${type}`,
      note: `first of ${number} ${number === 1 ? "block" : "blocks"}, ${relationships.toLocaleString("en")} ${relationships === 1 ? "relationship" : "relationships"}`,
      cell: first,
    }));
    const entries = answer.indexes.map(({ index, unique, cell }) => ({
      name: `Index ${index}`,
      note: unique ? "unique" : "entry",
      cell,
    }));
    return [{ name: "Node record", note: "labels and properties", cell: answer.record }, ...blocks, ...entries];
  }

  /** Reads again, as after an error. */
  again(): void {
    const { id } = this;
    this.id = null;
    this.choose(id);
  }

  private choose(id: Id | null): void {
    if (id === this.id) return;
    this.asked.abort();
    this.id = id;
    this.answer = null;
    this.error = null;
    this.emit("changed", undefined);
    this.want();
  }

  /** Reads when a tab is open that shows it. */
  private want(): void {
    const { tab } = this.session;
    const open = tab === "bytes" || tab === "chain";
    if (open && this.id !== null && !this.answer && !this.error) void this.read(this.id);
  }

  private async read(id: Id): Promise<void> {
    this.asked.abort();
    const { signal } = (this.asked = new AbortController());
    try {
      this.answer = await this.session.api.get<InspectedNode>(`/inspect/nodes/${id}`, {}, signal);
    } catch (error) {
      if (isAbort(error) || signal.aborted) return;
      this.error = error;
    }
    if (!signal.aborted) this.emit("changed", undefined);
  }
}
