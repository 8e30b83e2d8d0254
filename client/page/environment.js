// The page of one environment: its world, live, and everything that a visitor can do with it.

import { missing } from "../simulator/module.js";
import { BitsPanel } from "./bits.js";
import { Controls } from "./controls.js";
import { made } from "./form.js";
import { NotReadable, placeOf } from "./link.js";
import { Loader } from "./loading.js";
import { PeoplePanel } from "./people.js";
import { RewardsPanel } from "./rewards.js";
import { SeenPanel } from "./seen.js";
import { Sharing } from "./sharing.js";
import { Ended, Stage } from "./stage.js";
import { TextPanel } from "./text.js";
import { Turns } from "./turns.js";

/**
 * @typedef {import("./link.js").Place} Place
 * @typedef {import("./link.js").Episode} Episode
 * @typedef {import("./stage.js").Facts} Facts
 * @typedef {import("./stage.js").Made} Made
 * @typedef {import("./loading.js").SiteEnvironment} SiteEnvironment
 */

export class EnvironmentPage {
  /**
   * @param {HTMLElement} element Which the page fills.
   * @param {SiteEnvironment} environment
   */
  constructor(element, environment) {
    this.element = element;
    this.environment = environment;
    this.stage = new Stage({
      told: (facts) => this.#told(facts),
      failed: (one) => this.#failed(one),
      ran: (isRunning) => (this.controls.playButton.textContent = isRunning ? "Pause" : "Play"),
    });
    this.loader = new Loader(this.stage.session, environment);
    this.turns = new Turns();
    const say = (/** @type {string} */ text) => this.#say(text);
    const viewed = () => {
      this.controls.view.value = this.stage.view;
      this.#act(() => this.#look());
    };
    this.people = new PeoplePanel(this.stage, { say, viewed });
    this.seen = new SeenPanel(this.stage);
    this.seen.element.addEventListener("toggle", () => this.seen.refresh());
    this.text = new TextPanel(this.stage, () => this.people.hidesFrom());
    this.sharing = new Sharing(environment.id, say);
    this.bits = new BitsPanel(this.stage.session, environment.golden);
    this.rewards = new RewardsPanel();
    this.controls = new Controls(
      environment.described,
      {
        ...{ canvas: this.stage.canvas, deeds: this.people.buttons, people: this.people.element },
        ...{ seen: this.seen.element, text: this.text.element, bits: this.bits.element },
        ...{ link: this.sharing.link, file: this.sharing.file, rewards: this.rewards.element },
      },
      this.#deeds(),
      (does, name) => this.#act(does, name),
    );
    /** What was made last. @type {Place | null} */
    this.place = null;
    /** Whether players changed since then. */
    this.isMixed = false;
    /** Whether the visitor pressed Stop. */
    this.isStopped = false;
    /** @type {Facts | null} */
    this.last = null;
    this.isLinked = false;
  }

  /** Build the page and begin. */
  async start() {
    const lack = missing();
    if (lack !== "") {
      const text = `${lack} A newer browser runs this environment.`;
      this.element.append(made("p", { className: "problem", role: "alert" }, text));
      return;
    }
    this.element.classList.add("ge-page");
    this.element.append(this.controls.main, this.controls.side);
    window.addEventListener("hashchange", () => this.#act(() => this.#follow()));
    await this.#act(() => {
      const isStill = matchMedia("(prefers-reduced-motion: reduce)").matches;
      if (!isStill && !this.isLinked) this.stage.start();
    });
  }

  // ---- one thing at a time

  /**
   * Do something in turn, with a world that lives, and show what it failed with.
   * @param {() => any} does
   * @param {string} [name] Takes the place of what waits by the same name.
   */
  #act(does, name) {
    return this.turns.add(async () => {
      try {
        this.controls.problem.textContent = "";
        this.#say("");
        await this.#ready();
        await does();
        if (!this.stage.isRunning && !this.stage.isBest) await this.stage.draw();
      } catch (problem) {
        this.#failed(/** @type {Error} */ (problem));
      }
    }, name);
  }

  /** Load the module and make the world, unless both exist. */
  async #ready() {
    if (this.loader.isLoaded && this.place !== null) return;
    this.isStopped = false;
    this.#say("Loading…");
    if (!this.loader.isLoaded) await this.loader.load();
    if (this.place !== null) await this.#make({ ...this.place, steps: 0 });
    else await this.#follow();
    for (const text of this.loader.refused) this.#complain(`${text} Random actions stand in.`);
    this.#say("");
  }

  /** What the controls do. @returns {import("./controls.js").Deeds} */
  #deeds() {
    const { stage } = this;
    return {
      play: () => {
        if (!stage.isRunning) return this.#act(() => stage.start());
        stage.stop();
        return this.#act(() => {}); // which draws what it stopped at
      },
      stop: () => {
        this.isStopped = true;
        this.turns.clear();
        stage.end();
        this.controls.scrub.max = "0";
        this.#say("The world was stopped. Play or Restart loads it again.");
      },
      step: () => this.#step(),
      restart: () => this.#remake({}),
      nextSeed: () => this.#remake({ seed: Math.min(this.#now().seed + 1, 2 ** 53 - 1) }),
      remake: () => {
        const { seed, world, drawn } = this.controls;
        const numbers = { seed: Number(seed.value), world: Number(world.value) };
        return this.#remake({ ...numbers, drawn: drawn.checked });
      },
      apply: () => this.#remake(this.controls.chosen(this.#now())),
      speed: (speed) => (stage.speed = speed),
      view: (view) => {
        stage.view = view;
        return this.#look();
      },
      scrub: (step) => this.#goTo(step),
      branch: async () => this.#told(await stage.session.ask("branch")),
      player: (group, player) => this.#choose(group, player),
      share: () => {
        const place = { ...this.#now(), steps: this.last?.steps ?? 0 };
        return this.sharing.share(place, !this.people.hasPlayed && !this.isMixed);
      },
      save: async () => this.sharing.save(await stage.session.ask("episode", {}, true)),
      open: async () => {
        const episode = await this.sharing.opened();
        if (episode !== null) await this.#replay(episode);
      },
      check: () => this.bits.check(),
    };
  }

  // ---- making worlds

  /** The place that was made. @returns {Place} */
  #now() {
    if (this.place === null) throw new NotReadable("There is no world yet.");
    return this.place;
  }

  /** Make the world that the page's address names, or the default one. */
  async #follow() {
    /** @type {string | null} */
    let problem = null;
    try {
      const linked = this.sharing.linked();
      if (linked !== null) {
        await this.#make(linked);
        this.isLinked = true;
        return;
      }
    } catch (one) {
      if (one instanceof Ended) throw one;
      problem = `The link cannot be followed: ${/** @type {Error} */ (one).message}`;
    }
    await this.#make(this.loader.place, this.loader.players[0]);
    if (problem !== null) this.#complain(problem);
  }

  /** @param {Partial<Place>} changes */
  async #remake(changes) {
    const wasRunning = this.stage.isRunning;
    try {
      await this.#make({ ...this.#now(), ...changes, steps: 0 });
    } catch (problem) {
      if (problem instanceof Ended) throw problem;
      this.#complain(`The earlier world goes on: ${/** @type {Error} */ (problem).message}`);
      return;
    }
    if (wasRunning) this.stage.start();
  }

  /**
   * Make a world, and go to its step.
   * @param {Place} place
   * @param {string} [player] Who plays all groups, where the place does not say.
   */
  async #make(place, player) {
    const found = await this.stage.make(place, player);
    this.place = { ...place, players: found.facts.players, steps: 0 };
    this.isMixed = false;
    this.#showMade(found);
    if (place.steps > 0) {
      this.#told(await this.stage.walk("playTo", place.steps, this.#onWay));
      await this.#look();
    }
    await this.seen.refresh();
    for (const text of found.refused) this.#complain(`${text} Random actions stand in.`);
  }

  /** @param {Made} found */
  #showMade(found) {
    const { groups, views } = found;
    const place = this.#now();
    this.controls.showPlace(place, views, this.stage.view);
    this.controls.showPlayers(groups, this.loader.players, place.players);
    this.people.show(found);
    this.seen.show(found);
    this.rewards.show(found);
    this.last = null;
    this.#told(found.facts);
  }

  // ---- playing

  async #step() {
    this.stage.stop();
    const { waits } = await this.stage.step();
    if (waits.length > 0) this.#say("Choose below the picture: the world waits.");
    await Promise.all([this.seen.refresh(), this.text.refresh()]);
  }

  /**
   * Tell how far the way to a step is; a later wish ends it.
   * @param {number} step
   * @param {number} end
   */
  #onWay = (step, end) => {
    this.controls.facts.textContent = `On the way: step ${step} of ${end}`;
    return !this.turns.has("scrub");
  };

  /** @param {number} step */
  async #goTo(step) {
    this.stage.stop();
    this.#told(await this.stage.walk("goTo", step, this.#onWay));
    if (!this.turns.has("scrub")) await this.#look();
  }

  /** Show what is so now. */
  async #look() {
    await this.stage.draw();
    await Promise.all([this.seen.refresh(), this.text.refresh()]);
  }

  /**
   * @param {string} group
   * @param {string} player
   */
  async #choose(group, player) {
    const place = this.#now();
    try {
      const facts = /** @type {Facts} */ (
        await this.stage.session.ask("player", { group, player }, true)
      );
      if (facts.steps > 0) this.isMixed = true;
      if (facts.isReplaying)
        this.#say("The record is played first; another future has the player.");
      place.players = facts.players;
    } finally {
      this.controls.followPlayers(place.players);
    }
  }

  /** @param {Episode} episode */
  async #replay(episode) {
    await this.#make({ ...placeOf(episode), steps: 0 });
    this.isMixed = true; // a link would not have its actions
    this.#told(await this.stage.session.ask("replay", { episode }, true));
    const text = `The file has ${episode.steps} steps. Play shows them; the slider goes to any of them.`;
    this.#say(text);
  }

  /** @param {Facts} facts */
  #told(facts) {
    const { controls } = this;
    this.rewards.told(facts);
    this.last = facts;
    controls.scrub.max = String(facts.recorded);
    if (!this.turns.has("scrub")) controls.scrub.value = String(facts.steps);
    controls.branch.disabled = !facts.isReplaying;
    const over = facts.isOver ? ", the episode is over" : "";
    const from = facts.isReplaying ? `, of ${facts.recorded} in the record` : "";
    controls.facts.textContent = `step ${facts.step}${over}; ${facts.steps} steps since the seed${from}`;
    this.people.told(facts);
    this.seen.told();
    this.text.told();
  }

  // ---- messages

  /** @param {string} text */
  #say(text) {
    this.controls.status.textContent = text;
  }

  /** @param {string} text */
  #complain(text) {
    this.controls.problem.textContent = text;
  }

  /** @param {Error} problem */
  #failed(problem) {
    this.stage.stop();
    if (this.isStopped && problem instanceof Ended) return;
    const again = problem instanceof Ended ? " Play or Restart loads it again." : "";
    this.#complain(`${problem.message}${again}`);
  }
}
