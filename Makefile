# Every task of the project. What a task needs is fetched into .deps the first time.

# All but tests/nvim and tests/agents, which need what `make build` left, and more, and tests/extreme,
# whose bound on the core's time is for optimized code.
RUST_TESTS := $(patsubst tests/%.rs,--test %,$(wildcard tests/*.rs)) \
	$(patsubst tests/%/main.rs,--test %,\
	$(filter-out tests/nvim/main.rs tests/agents/main.rs tests/extreme/main.rs,\
	$(wildcard tests/*/main.rs)))
CLIPPY := cargo clippy --quiet

.DEFAULT_GOAL := help
.PHONY: help build test test-rust test-nvim lint lint-rust lint-lua lint-doc format \
	chat bench agents doc clean

help: ## Show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-10s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## Build the core and put it where Neovim loads it from (lib/)
	@scripts/build.sh

test: test-rust test-nvim ## Run all tests, in every supported Neovim

test-rust: build ## Run the tests that need no Neovim
	cargo test --no-default-features --lib $(RUST_TESTS)
	cargo test --release --no-default-features --test extreme

test-nvim: build ## Run the tests inside Neovim
	nvims=$$(scripts/nvim.sh all) && \
	ACP_TEST_NVIMS=$$(printf '%s' "$$nvims" | tr '\n' ':') \
	cargo test --no-default-features --test nvim

lint: lint-rust lint-lua lint-doc ## Check layout, mistakes, types and help

lint-rust:
	cargo fmt --check
	$(CLIPPY) --no-default-features --all-targets -- -D warnings
	$(CLIPPY) --lib --bins -- -D warnings

lint-lua:
	scripts/lint_lua.sh

lint-doc:
	scripts/docs.sh check

format: ## Lay out the Rust and Lua code
	cargo fmt
	$$(scripts/tools.sh stylua) $(wildcard lua plugin scripts tests build.lua)

chat: build ## Try it: a chat with the built-in tutor on a scratch project
	@scripts/chat.sh

bench: build ## Measure
	scripts/bench.sh

agents: build ## Fetch real agents and test with them, offline, on a scripted model
	scripts/agents.sh

doc: ## Bring the tables and the tags of the help up to date
	scripts/docs.sh write

clean: ## Remove what was built (what was fetched stays in .deps)
	cargo clean
	rm -rf lib
